"""An archive of a repository, read as it arrives: within limits, nothing in it followed.

Whoever owns a repository decides what its archive holds, so it is read by what `git archive`
writes and no more: `tarfile` would follow sparse maps and hold a header's data of any size.
"""

from __future__ import annotations

import hashlib
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from arena.packages.findings import shown
from arena.sources.limits import (
    MAX_COLLECTION_BYTES,
    MAX_COLLECTION_FILES,
    RefusedSource,
    Tally,
    mib,
    not_plain,
    too_large,
)

MAX_PACKED_BYTES = MAX_COLLECTION_BYTES
MAX_UNPACKED_BYTES = 4 * MAX_COLLECTION_BYTES
MAX_ENTRIES = 5 * MAX_COLLECTION_FILES
"""Of the whole repository, of which the collection may be one folder."""

_MAX_HEADER_BYTES = 64 * 1024
_BLOCK = tarfile.BLOCKSIZE
_READ = 256 * 1024
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)
_LINKS = (tarfile.SYMTYPE, tarfile.LNKTYPE)


class BrokenArchive(Exception):
    """What arrived is no whole archive of a repository."""


class ArchivedFile(NamedTuple):
    """A regular file below the collection's folder."""

    path: str
    content: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def read_archive(packed: Iterable[bytes], subpath: str) -> Iterator[ArchivedFile]:
    """The files below `subpath` of a gzipped tar with one folder around everything.

    Raises:
        RefusedSource: it holds what no collection may, or too much.
        BrokenArchive: it ends early, or is none.
    """
    prefix = f"{subpath}/" if subpath else ""
    seen = _Paths()
    tally = Tally()
    root = None
    for entry in _entries(_Unpacked(packed)):
        top, _, path = entry.info.name.partition("/")
        root = root or top
        if top != root or top in {"", ".", ".."}:
            raise not_plain(f"the path {shown(entry.info.name)} is outside of the archive's folder")
        if not path.startswith(prefix) or path == prefix or entry.info.isdir():
            continue
        path = path.removeprefix(prefix)
        if entry.info.type in _LINKS:
            raise not_plain(f"{shown(path)} is a link")
        if entry.info.type not in _FILES:
            raise not_plain(f"{shown(path)} is a special file")
        tally.add(path, entry.info.size)
        seen.add(path)
        yield ArchivedFile(path, entry.content())


class _Paths:
    """The paths so far: none stands twice, and none is both a file and a folder."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def add(self, path: str) -> None:
        parts = path.split("/")
        folders = {"/".join(parts[:end]) for end in range(1, len(parts))}
        if path in self._files | self._folders or not folders.isdisjoint(self._files):
            raise not_plain(f"the path {shown(path)} stands there twice")
        self._files.add(path)
        self._folders |= folders


class _Unpacked:
    """The bytes inside a gzip stream, in order, up to the limits."""

    def __init__(self, packed: Iterable[bytes]) -> None:
        self._packed = iter(packed)
        self._gunzip = zlib.decompressobj(wbits=31)
        self._held = bytearray()
        self._packed_bytes = 0
        self._unpacked_bytes = 0

    def read(self, size: int) -> bytes:
        """Exactly the next `size` bytes."""
        while len(self._held) < size:
            self._more()
        part = bytes(self._held[:size])
        del self._held[:size]
        return part

    def skip(self, size: int) -> None:
        while size > 0:
            size -= len(self.read(min(size, _READ)))

    def _more(self) -> None:
        packed = self._gunzip.unconsumed_tail or self._next()
        try:
            part = self._gunzip.decompress(packed, _READ)
        except zlib.error as exc:
            raise BrokenArchive("it is no gzip stream") from exc
        self._unpacked_bytes += len(part)
        if self._unpacked_bytes > MAX_UNPACKED_BYTES:
            raise _repository_too_large(f"over {mib(MAX_UNPACKED_BYTES)} unpacked")
        self._held += part

    def _next(self) -> bytes:
        packed = b"" if self._gunzip.eof else next(self._packed, b"")
        if not packed:
            raise BrokenArchive("it ends early")
        self._packed_bytes += len(packed)
        if self._packed_bytes > MAX_PACKED_BYTES:
            raise _repository_too_large(f"over {mib(MAX_PACKED_BYTES)} as an archive")
        return packed


class _Entry:
    """A member of a tar; its content is read at once or not at all."""

    def __init__(self, info: tarfile.TarInfo, stream: _Unpacked) -> None:
        self.info = info
        self._stream = stream
        self._left = info.size if info.type in _FILES else 0
        self._padding = -self._left % _BLOCK

    def content(self) -> bytes:
        content = self._stream.read(self._left)
        self._left = 0
        return content

    def skip_rest(self) -> None:
        self._stream.skip(self._left + self._padding)


def _entries(stream: _Unpacked) -> Iterator[_Entry]:
    """The members, with the long names that stand before them."""
    long_name: str | None = None
    for _ in range(MAX_ENTRIES):
        block = stream.read(_BLOCK)
        if not block.strip(b"\0"):
            return
        info = _header(block)
        if info.type in (tarfile.XHDTYPE, tarfile.XGLTYPE):
            records = _records(_header_data(stream, info))
            if info.type == tarfile.XHDTYPE:
                if "size" in records or any(key.startswith("GNU.sparse") for key in records):
                    raise not_plain("a file of the archive is not stored as it is")
                long_name = records.get("path")
            continue
        if info.type == tarfile.GNUTYPE_LONGNAME:
            long_name = _text(_header_data(stream, info).rstrip(b"\0"))
            continue
        if info.type == tarfile.GNUTYPE_LONGLINK:
            _header_data(stream, info)
            continue
        if long_name is not None:
            info.name, long_name = long_name, None
        entry = _Entry(info, stream)
        yield entry
        entry.skip_rest()
    raise _repository_too_large(f"over {MAX_ENTRIES:,} files and folders")


def _header(block: bytes) -> tarfile.TarInfo:
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as exc:
        raise BrokenArchive("it is no tar") from exc
    if info.size < 0:
        raise BrokenArchive("it is no tar")
    return info


def _header_data(stream: _Unpacked, info: tarfile.TarInfo) -> bytes:
    if info.size > _MAX_HEADER_BYTES:
        raise not_plain("a name in the archive is far too long")
    data = stream.read(info.size)
    stream.skip(-info.size % _BLOCK)
    return data


def _records(data: bytes) -> dict[str, str]:
    """The records of a pax header: `length SPACE key=value NEWLINE`."""
    found: dict[str, str] = {}
    while data:
        number, _, _ = data[:8].partition(b" ")
        length = int(number) if number.isdigit() else 0
        key, equals, value = data[len(number) + 1 : length].partition(b"=")
        if not equals or not value.endswith(b"\n") or length > len(data):
            raise BrokenArchive("one of its headers does not read")
        found[_text(key)] = _text(value[:-1])
        data = data[length:]
    return found


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _repository_too_large(what: str) -> RefusedSource:
    return too_large(".", f"its repository is {what}")
