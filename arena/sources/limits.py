"""What a collection's files may be, wherever they come from."""

from __future__ import annotations

from pathlib import PurePosixPath

from arena.packages import Finding
from arena.packages.files import MAX_FILE_BYTES, is_unsafe_name
from arena.packages.findings import error, shown

MAX_COLLECTION_BYTES = 256 * 1024 * 1024
MAX_COLLECTION_FILES = 20_000
MAX_SMALL_BYTES = 256 * 1024
MAX_PATH_PARTS = 20
MAX_NAME_BYTES = 200


class RefusedSource(Exception):
    """What stands at the source cannot be a collection; `findings` say why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class Tally:
    """Counts a collection's files while they are listed."""

    def __init__(self) -> None:
        self._bytes = 0
        self._files = 0

    def add(self, path: str, size: int) -> None:
        """Counts one more file.

        Raises:
            RefusedSource: its path is unsafe, or it is more than a collection may have.
        """
        require_safe(path)
        self._bytes += size
        self._files += 1
        if size > MAX_FILE_BYTES:
            raise too_large(path, f"{mib(size)} in one file")
        if self._bytes > MAX_COLLECTION_BYTES or self._files > MAX_COLLECTION_FILES:
            raise too_large(
                ".", f"over {mib(MAX_COLLECTION_BYTES)} or {MAX_COLLECTION_FILES:,} files"
            )


def require_safe(path: str) -> None:
    """Raises RefusedSource where the path is not one below the folder it will be written to."""
    parts = PurePosixPath(path).parts
    unsafe = path.startswith("/") or not parts or ".." in parts
    if unsafe or any(is_unsafe_name(part) for part in parts) or _is_long(parts):
        raise not_plain(f"the path {shown(path)} is not allowed")


def not_plain(message: str) -> RefusedSource:
    """The refusal of what is no plain file at a plain path."""
    return RefusedSource(error("TP007", message, ".", "Keep plain files and folders only."))


def too_large(path: str, what: str) -> RefusedSource:
    """The refusal of too much."""
    hint = (
        "A collection is folders with a task.md each and small seed data: name their folder as "
        "SUBPATH, and generate larger data in the image."
    )
    return RefusedSource(error("TP008", f"the collection is too large: {what}", path, hint))


def mib(size: int) -> str:
    return f"{size / (1024 * 1024):.0f} MiB"


def _is_long(parts: tuple[str, ...]) -> bool:
    """Whether a file system may refuse the path."""
    return len(parts) > MAX_PATH_PARTS or any(len(part.encode()) > MAX_NAME_BYTES for part in parts)
