"""Contents that never change, kept on disk by their digest."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection
from pathlib import Path

from huggingface_hub.hf_api import RepoFile

from arena.wholefiles import put_whole

log = logging.getLogger(__name__)


def digest_of(entry: RepoFile) -> str:
    """What the Hub knows a file's content by: sha256 in LFS, else git's blob id."""
    return entry.lfs.sha256 if entry.lfs else entry.blob_id


def digests(content: bytes) -> tuple[str, str]:
    """Both names that a content can have on the Hub: git's blob id, and its sha256."""
    header = b"blob %d\0" % len(content)
    git = hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
    return git, hashlib.sha256(content).hexdigest()


class Blobs:
    """A folder of contents, each under its digest. Safe beside other processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, digest: str) -> bytes | None:
        """The content, where it is kept and whole."""
        try:
            content = (self._folder / digest).read_bytes()
        except FileNotFoundError:
            return None
        return content if digest in digests(content) else None

    def keep(self, content: bytes, digest: str) -> None:
        """Keeps a content under its digest, whole or not at all; a full disk costs a download."""
        try:
            put_whole(self._folder / digest, content)
        except OSError as exc:
            log.warning("a content is not kept on this machine: %s", exc)

    def keep_only(self, names: Collection[str]) -> None:
        """Removes every content but these."""
        for path in self._folder.iterdir():
            if path.name not in names:
                path.unlink(missing_ok=True)
