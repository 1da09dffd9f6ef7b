"""Which stand-ins there are, kept as files once made, loaded where an engine lacks them."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from docker import APIClient
from docker.errors import APIError, ImageNotFound

from local.baseimages import busybox, python
from local.baseimages.archive import BaseImageError

DEFAULT_CACHE = Path(".local/cache/base-images")

_LOAD_SECONDS = 300
_WRITERS: dict[str, Callable[[IO[bytes]], None]] = {
    busybox.BUSYBOX: busybox.write,
    python.PYTHON: python.write,
}


def ensure_base_images(
    url: str, names: Sequence[str] = (busybox.BUSYBOX,), cache: Path = DEFAULT_CACHE
) -> list[str]:
    """Load the stand-ins of these names that the private engine at `url` lacks.

    Returns the names just loaded. Raises BaseImageError where one cannot be made.
    """
    client = APIClient(base_url=url, version="auto", timeout=_LOAD_SECONDS)
    try:
        missing = [name for name in names if not _has(client, name)]
        for name in missing:
            _load(client, name, _archive(name, cache))
    finally:
        client.close()
    return missing


def _has(client: APIClient, name: str) -> bool:
    try:
        client.inspect_image(name)
    except ImageNotFound:
        return False
    return True


def _load(client: APIClient, name: str, archive: Path) -> None:
    try:
        with archive.open("rb") as content:
            client.load_image(content)
    except APIError as error:
        raise BaseImageError(f"{name}: {error.explanation or error}") from error


def _archive(name: str, cache: Path) -> Path:
    """The file of a stand-in; whoever makes it puts it in place whole."""
    path = cache / f"{name.replace(':', '-')}-{_recipe()}.tar"
    if path.exists():
        return path
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=cache, prefix=".", suffix=".part", delete=False) as made:
        part = Path(made.name)
        try:
            _WRITERS[name](made)
            made.flush()
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    return path


def _recipe() -> str:
    """Of the code that makes the stand-ins: changed code makes other files."""
    code = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    return hashlib.sha256(b"".join(code)).hexdigest()[:12]
