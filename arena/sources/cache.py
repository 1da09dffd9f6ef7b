"""What was fetched, by what it is: files by their digest, listings by their pinned source.

A commit never changes, so what was fetched once can be had again, also after its repository is
gone: an accepted collection is still to be released. What was used longest ago goes where the
whole would be too large.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from arena.sources.address import PinnedSource
from arena.wholefiles import put_whole

MAX_CACHE_BYTES = 10 * 1024**3
_LEFT = 0.9  # of the limit, so that not every new file has the whole folder looked at


class FileCache:
    """A folder of files; several processes may share it."""

    def __init__(
        self, folder: Path, parts: Path | None = None, max_bytes: int = MAX_CACHE_BYTES
    ) -> None:
        """`parts`: where a file is while it is not whole, on the same disk."""
        self._folder = folder
        self._parts = parts or folder
        self._max_bytes = max_bytes
        self._bytes: int | None = None  # not looked at yet
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    def holds(self, digest: str) -> bool:
        """Whether the file of that digest is kept; it counts as used."""
        try:
            os.utime(self._path(digest))
        except FileNotFoundError:
            return False
        return True

    def content(self, digest: str) -> bytes | None:
        """The file of that digest, where it is kept."""
        if not self.holds(digest):
            return None
        try:
            return self._path(digest).read_bytes()
        except FileNotFoundError:  # another process made room
            return None

    def keep(self, digest: str, content: bytes) -> None:
        """Keeps a file."""
        if not self._path(digest).is_file():
            self._put(self._path(digest), content)

    def listing(self, pinned: PinnedSource) -> list[list[Any]] | None:
        """What `keep_listing` kept of that source."""
        try:
            kept = self._listing_path(pinned).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        rows: list[list[Any]] = json.loads(kept)
        return rows

    def keep_listing(self, pinned: PinnedSource, rows: Sequence[tuple[Any, ...]]) -> None:
        """Keeps the list of a source's files."""
        self._put(self._listing_path(pinned), json.dumps(rows).encode())

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest

    def _listing_path(self, pinned: PinnedSource) -> Path:
        return self._folder / f"{hashlib.sha256(str(pinned).encode()).hexdigest()}.json"

    def _put(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(exist_ok=True)
        self._parts.mkdir(parents=True, exist_ok=True)
        put_whole(path, content, self._parts)
        self._make_room(len(content))

    def _make_room(self, added: int) -> None:
        """Counts what was added; beyond the limit, removes what was used longest ago."""
        with self._lock:
            if self._bytes is not None and self._bytes + added <= self._max_bytes:
                self._bytes += added
                return
            kept = sorted(_kept(self._folder))
            self._bytes = sum(size for _, size, _ in kept)
            if self._bytes <= self._max_bytes:
                return
            for _, size, path in kept:
                if self._bytes <= self._max_bytes * _LEFT:
                    return
                path.unlink(missing_ok=True)
                self._bytes -= size


def _kept(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """When each file was last used, how large it is, and where."""
    for path in folder.rglob("*"):
        try:
            found = path.stat()
        except FileNotFoundError:  # another process made room
            continue
        if stat.S_ISREG(found.st_mode):
            yield found.st_mtime, found.st_size, path
