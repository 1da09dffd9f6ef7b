"""Files that are either the old one or the new one, never half of it."""

import os
import secrets
from pathlib import Path


def write_atomically(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
