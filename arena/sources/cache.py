"""What was fetched, by what it is: files by their digest, listings by their pinned source.

A commit never changes, so what was fetched once can be had again, also after its repository is
gone: an accepted collection is still to be released.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.sources.address import PinnedSource
from arena.wholefiles import put_whole


class FileCache:
    """A folder of files; several processes may share it."""

    def __init__(self, folder: Path, parts: Path | None = None) -> None:
        """`parts`: where a file is while it is not whole, on the same disk."""
        self._folder = folder
        self._parts = parts or folder
        folder.mkdir(parents=True, exist_ok=True)

    def content(self, digest: str) -> bytes | None:
        """The file of that digest, where it is kept."""
        kept = self._path(digest)
        return kept.read_bytes() if kept.is_file() else None

    def keep(self, digest: str, content: bytes) -> None:
        """Keeps a file."""
        if not self._path(digest).is_file():
            self._put(self._path(digest), content)

    def listing(self, pinned: PinnedSource) -> list[list[Any]] | None:
        """What `keep_listing` kept of that source."""
        kept = self._listing_path(pinned)
        if not kept.is_file():
            return None
        rows: list[list[Any]] = json.loads(kept.read_text(encoding="utf-8"))
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
