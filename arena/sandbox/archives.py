"""Tar archives into and out of containers, and what of an agent's files may cross over."""

from __future__ import annotations

import io
import posixpath
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from arena.sandbox.errors import AgentFault

MAX_MEMBERS = 20_000
# The arena's own, and the system's: never an agent's work, whatever a package declares.
_NEVER_CARRIED = ("/verifier", "/tests", "/oracle", "/solution", "/logs", "/dev", "/proc", "/sys")


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

    def add_tree(self, name: str, folder: Path, mode: int = 0o755) -> None:
        """The regular files below `folder`, readable by all, writable by nobody."""
        self.add_folder(name, mode)
        for path in regular_files(folder):
            bits = 0o555 if path.stat().st_mode & 0o111 or path.suffix == ".sh" else 0o444
            inside = path.relative_to(folder).as_posix()
            self.add_file(f"{name}/{inside}", path.read_bytes(), bits)

    def add_member(self, member: tarfile.TarInfo, data: bytes | None) -> None:
        self._tar.addfile(member, None if data is None else io.BytesIO(data))

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


def carried_paths(declared: Sequence[str], defaults: Iterable[str]) -> tuple[str, ...]:
    """The paths that cross over into the verifier's container: none inside another, none ours."""
    for candidates in (declared, defaults):
        allowed = [
            path
            for path in map(_normal, candidates)
            if path != "/" and not any(_inside(path, ours) for ours in _NEVER_CARRIED)
        ]
        if allowed:
            break
    unique = sorted(set(allowed))
    return tuple(
        path
        for path in unique
        if not any(path != other and _inside(path, other) for other in unique)
    )


class Carrier:
    """Copies an agent's files into a bundle, within a budget, leaving out what could reach further.

    Devices and FIFOs are dropped, and symlinks that leave the carried paths; so are set-id bits and
    extended attributes.
    """

    def __init__(self, bundle: Bundle, paths: Sequence[str], max_bytes: int) -> None:
        self._bundle = bundle
        self._paths = paths
        self._max_bytes = max_bytes
        self._left = max_bytes
        self._members = 0

    def carry(self, path: str, chunks: Iterator[bytes], prefix: str) -> None:
        """One path as the engine archives it; its members go below `prefix`."""
        parent = posixpath.dirname(path)
        kept: set[str] = set()
        try:
            with tarfile.open(fileobj=_Stream(self._metered(chunks)), mode="r|") as tar:
                for member in tar:
                    self._count()
                    if self._is_welcome(member, parent, kept):
                        kept.add(member.name)
                        self._add(tar, member, prefix)
        except (tarfile.TarError, UnicodeError, ValueError) as error:
            raise AgentFault(f"the files at {path} do not archive: {error}") from error

    def _metered(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._left -= len(chunk)
            if self._left < 0:
                raise AgentFault(f"the artifacts are larger than {self._max_bytes >> 20} MiB")
            yield chunk

    def _count(self) -> None:
        self._members += 1
        if self._members > MAX_MEMBERS:
            raise AgentFault(f"the artifacts are more than {MAX_MEMBERS} files")

    def _is_welcome(self, member: tarfile.TarInfo, parent: str, kept: set[str]) -> bool:
        if member.issym():
            place = posixpath.dirname(posixpath.join(parent, member.name))
            return self._stays_inside(place, member.linkname)
        if member.islnk():
            return member.linkname in kept
        return member.isreg() or member.isdir()

    def _stays_inside(self, place: str, target: str) -> bool:
        """Whether a symlink in the folder `place` cannot lead out of the carried paths.

        `..` counts only at the front: behind a name it would go up from wherever that name, which
        may be a symlink too, leads to.
        """
        parts = [part for part in target.split("/") if part not in ("", ".")]
        names = [index for index, part in enumerate(parts) if part != ".."]
        if names and ".." in parts[names[0] :]:
            return False
        end = posixpath.normpath(posixpath.join(place, target))
        return any(_inside(end, path) for path in self._paths)

    def _add(self, tar: tarfile.TarFile, member: tarfile.TarInfo, prefix: str) -> None:
        file = tar.extractfile(member) if member.isreg() else None
        data = None if file is None else file.read()
        member.name = f"{prefix}/{member.name}"
        if member.islnk():
            member.linkname = f"{prefix}/{member.linkname}"
        member.mode &= 0o1777
        member.uname = member.gname = ""
        member.pax_headers = {}
        self._bundle.add_member(member, data)


def small_files(chunks: Iterator[bytes], names: Sequence[str], cap: int) -> dict[str, bytes | None]:
    """Of an archived folder the files named so: at most cap + 1 bytes of each, None where it is
    not a regular file."""
    found: dict[str, bytes | None] = {}
    with tarfile.open(fileobj=_Stream(chunks), mode="r|") as tar:
        for member in tar:
            folder, _, name = member.name.rpartition("/")
            if name in names and "/" not in folder:
                file = tar.extractfile(member) if member.isreg() else None
                found[name] = None if file is None else file.read(cap + 1)
            if len(found) == len(names):
                break
    return found


class _Stream(io.RawIOBase):
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


def _normal(path: str) -> str:
    return posixpath.normpath("/" + path.lstrip("/"))


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")
