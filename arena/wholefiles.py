"""Files that are there whole or not at all."""

from __future__ import annotations

import tempfile
from pathlib import Path


def put_whole(path: Path, content: bytes, parts: Path | None = None) -> None:
    """Puts a file in its place whole, whoever else does the same.

    Args:
        parts: where it is while it is not whole, on the same disk; beside its place if not said.
    """
    with tempfile.NamedTemporaryFile(dir=parts or path.parent, delete=False) as part:
        whole = Path(part.name)
        try:
            part.write(content)
            part.flush()
            whole.replace(path)
        except OSError:
            whole.unlink(missing_ok=True)
            raise
