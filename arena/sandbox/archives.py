"""Tar archives into and out of containers."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

IN_CONTAINER = Path(__file__).parent / "in_container"
"""What the arena brings into containers, beside a package's own."""


class Bundle:
    """A tar archive that is being put together."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._tar = tarfile.TarFile(fileobj=self._buffer, mode="w", format=tarfile.PAX_FORMAT)

    def add_folder(self, name: str, mode: int = 0o755) -> None:
        member = tarfile.TarInfo(name)
        member.type, member.mode = tarfile.DIRTYPE, mode
        self._tar.addfile(member)

    def add_file(self, name: str, data: bytes, mode: int) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mode = len(data), mode
        self._tar.addfile(member, io.BytesIO(data))

    def add_link(self, name: str, target: str) -> None:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = tarfile.SYMTYPE, target
        self._tar.addfile(member)

    def add_tree(self, name: str, folder: Path, mode: int = 0o755) -> None:
        """The regular files below `folder`, readable by all, writable by nobody."""
        self.add_folder(name, mode)
        for path in regular_files(folder):
            bits = 0o555 if path.stat().st_mode & 0o111 or path.suffix == ".sh" else 0o444
            inside = path.relative_to(folder).as_posix()
            self.add_file(f"{name}/{inside}", path.read_bytes(), bits)

    def add_member(self, member: tarfile.TarInfo, data: bytes | None) -> None:
        self._tar.addfile(member, None if data is None else io.BytesIO(data))

    def members(self) -> bytes:
        """What was added so far, to be followed by what another bundle's `finish` gives."""
        return self._buffer.getvalue()

    def finish(self) -> bytes:
        self._tar.close()
        return self._buffer.getvalue()


def regular_files(folder: Path) -> list[Path]:
    """The regular files below a folder, sorted; a symlink is none, and no way into another."""
    found = []
    for path in folder.rglob("*"):
        parents = path.relative_to(folder).parents
        if path.is_file() and not path.is_symlink():
            if any((folder / parent).is_symlink() for parent in parents if parent.name):
                continue
            found.append(path)
    return sorted(found)


def small_files(chunks: Iterator[bytes], names: Sequence[str], cap: int) -> dict[str, bytes | None]:
    """Of an archived folder the files named so: at most cap + 1 bytes of each, None where it is
    not a regular file."""
    found: dict[str, bytes | None] = {}
    with tarfile.open(fileobj=Stream(chunks), mode="r|") as tar:
        for member in tar:
            folder, _, name = member.name.rpartition("/")
            if name in names and "/" not in folder:
                file = tar.extractfile(member) if member.isreg() else None
                found[name] = None if file is None else file.read(cap + 1)
            if len(found) == len(names):
                break
    return found


class Stream(io.RawIOBase):
    """The chunks of an archive as the file that tarfile reads."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._rest = chunk
        data, self._rest = self._rest[:size], self._rest[size:]
        return data
