"""What a commit changes, and what the tree is after it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from arena.localhub import errors
from arena.localhub.lfs import Pointer

_REGULAR_FILE = "100644"
# What file systems take: a path that nobody can download is not accepted.
_MAX_NAME_BYTES = 255
_MAX_PATH_BYTES = 1024


class Entry(NamedTuple):
    """A file, or a directory when it has no size. Of a large file `oid` is its pointer's."""

    mode: str
    oid: str
    size: int | None
    lfs: Pointer | None = None

    @property
    def is_file(self) -> bool:
        return self.size is not None


@dataclass(frozen=True)
class Changes:
    files: Mapping[str, bytes] = field(default_factory=dict)
    large_files: Mapping[str, Pointer] = field(default_factory=dict)
    deleted_files: tuple[str, ...] = ()
    deleted_folders: tuple[str, ...] = ()

    def check_paths(self) -> None:
        for path in (*self.files, *self.large_files, *self.deleted_files, *self.deleted_folders):
            check_path(path)


def check_path(path: str) -> None:
    """Refuse what would leave the folder it is downloaded to, or mean something to git."""
    parts = path.split("/")
    unsafe_part = any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
    too_long = len(path.encode()) > _MAX_PATH_BYTES or any(
        len(part.encode()) > _MAX_NAME_BYTES for part in parts
    )
    unsafe_character = any(c < " " or c in "\\\x7f" for c in path)
    if unsafe_part or unsafe_character or too_long:
        raise errors.bad_request(f"Invalid path in repository: {path[:200]!r}")


def apply_changes(
    before: Mapping[str, Entry], changes: Changes, blobs: Mapping[str, str]
) -> dict[str, Entry]:
    """The files after the changes; `blobs` gives the stored object of each added file."""
    files = {path: entry for path, entry in before.items() if entry.is_file}
    for folder in changes.deleted_folders:
        inside = [path for path in files if path.startswith(folder + "/")]
        if not inside:
            raise errors.entry_not_found(f"No folder with this name: {folder}")
        for path in inside:
            del files[path]
    for path in changes.deleted_files:
        if files.pop(path, None) is None:
            raise errors.entry_not_found(f"No file with this name: {path}")
    for path, content in changes.files.items():
        files[path] = Entry(_REGULAR_FILE, blobs[path], len(content))
    for path, pointer in changes.large_files.items():
        files[path] = Entry(_REGULAR_FILE, blobs[path], pointer.size, pointer)
    folders = {folder for path in files for folder in _parents(path)}
    for path in sorted(folders & files.keys()):
        raise errors.bad_request(f"{path} cannot be a file and a folder")
    return files


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rsplit("/", 1)[0]
        yield path
