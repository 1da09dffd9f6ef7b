"""The journal: every request in the order in which it came, one JSON object a line."""

import json
from pathlib import Path

from roombook.store import Clash, Store


def replay(path: str | Path) -> dict[str, object]:
    """Apply a journal's requests to an empty store.

    Returns {"refused": [{"line", "id", "clashes_with"}], "agenda": {room: [ids]}}. Lines count from
    1. `clashes_with` is None where a request is about a booking that does not exist.
    """
    store = Store()
    refused = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        request = json.loads(line)
        try:
            getattr(store, request.pop("op"))(**request)
        except Clash as clash:
            refused.append({"line": number, "id": request["id"], "clashes_with": clash.other})
        except KeyError:
            refused.append({"line": number, "id": request["id"], "clashes_with": None})
    agenda = {room: [booking.id for booking in store.agenda(room)] for room in store.rooms()}
    return {"refused": refused, "agenda": agenda}
