"""Large files: their contents beside the git objects, and a pointer in their place."""

import hashlib
import re
import secrets
from pathlib import Path
from typing import NamedTuple

from arena.localhub import errors
from arena.localhub.files import write_atomically

# From this size on the Hub wants a file through LFS.
THRESHOLD = 10 * 2**20
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n"
    rb"oid sha256:(?P<oid>[0-9a-f]{64})\nsize (?P<size>\d{1,18})\n"
)
POINTER_SIZES = range(120, 160)


class Pointer(NamedTuple):
    """A content by its sha256, and its size."""

    oid: str
    size: int

    def text(self) -> bytes:
        return b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (
            self.oid.encode(),
            self.size,
        )


def parse_pointer(content: bytes) -> Pointer | None:
    """The pointer that a small file is, if it is one."""
    match = _POINTER.fullmatch(content)
    return Pointer(match["oid"].decode(), int(match["size"])) if match else None


class LfsObjects:
    """The large contents of one repository."""

    def __init__(self, git_dir: Path) -> None:
        self._folder = git_dir / "lfs"

    def has(self, pointer: Pointer) -> bool:
        path = self._folder / pointer.oid
        return path.is_file() and path.stat().st_size == pointer.size

    def read(self, pointer: Pointer) -> bytes:
        return (self._folder / pointer.oid).read_bytes()

    def keep(self, pointer: Pointer, content: bytes) -> None:
        """Keeps a content whole, where it is what the pointer says."""
        if len(content) != pointer.size or hashlib.sha256(content).hexdigest() != pointer.oid:
            raise errors.bad_request("What arrived is not the object that was announced.")
        self._folder.mkdir(exist_ok=True)
        write_atomically(self._folder / pointer.oid, content)


class UploadTickets:
    """Addresses that an object may be put at once: as signed addresses are on the Hub."""

    def __init__(self) -> None:
        self._tickets: dict[str, tuple[LfsObjects, Pointer]] = {}

    def issue(self, objects: LfsObjects, pointer: Pointer) -> str:
        ticket = secrets.token_urlsafe(24)
        self._tickets[ticket] = (objects, pointer)
        return ticket

    def redeem(self, ticket: str, content: bytes) -> None:
        found = self._tickets.get(ticket)
        if found is None:
            raise errors.HubError(403, "This upload address has expired.")
        objects, pointer = found
        objects.keep(pointer, content)
        self._tickets.pop(ticket, None)
