"""Mends the library whose folder is given: one replacement for each of its three faults."""

import sys
from pathlib import Path

TIMES = {
    # An offset was thrown away, so that times compared by what the clock on the wall said.
    "datetime.fromisoformat(text).replace(tzinfo=UTC)": "datetime.fromisoformat(text)",
    "from datetime import UTC, datetime": "from datetime import datetime",
}
STORE = {
    # A moved booking kept its old place, and the search for neighbours needs them in order. A
    # refused one was gone from its room.
    """        self._place(new)
        agenda.insert(index, new)
""": """        try:
            place = self._place(new)
        except Clash:
            agenda.insert(index, old)
            raise
        agenda.insert(place, new)
""",
}


def mend(path: Path, changes: dict[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    for old, new in changes.items():
        if text.count(old) != 1:
            sys.exit(f"{path}: not the code that was expected")
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    library = Path(sys.argv[1])
    mend(library / "times.py", TIMES)
    mend(library / "store.py", STORE)
