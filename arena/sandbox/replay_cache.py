"""Verdicts of replays by the content they were about, so that a second replay is quick."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

from pydantic import ValidationError

from arena.sandbox.replay import Replay
from arena.sandbox.results import Caps
from arena.wholefiles import put_whole

VERSION = 2
"""Part of every key; goes up when a trial's rules change, so that old verdicts don't count."""


def default_folder() -> Path:
    """The user's cache for replays."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "posttrain-arena" / "replays"


class ReplayCache:
    """One file a verdict; its key is the package's content and the caps that it ran with."""

    def __init__(self, folder: Path, caps: Caps) -> None:
        self.trouble: str | None = None
        """Why a verdict could not be kept; None where all were."""
        self._folder = folder
        self._caps = json.dumps(asdict(caps), sort_keys=True)

    def get(self, digest: str, repeat: int) -> Replay | None:
        """The verdict on this content, or None; a file that can't be read is no verdict."""
        try:
            return Replay.model_validate_json(self._path(digest, repeat).read_bytes())
        except (OSError, ValidationError):
            return None

    def put(self, digest: str, repeat: int, found: Replay) -> None:
        """Keeps a verdict, whole or not at all; what the next build may change is none."""
        if found.verdict in {"no engine", "not built"}:
            return
        path = self._path(digest, repeat)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            put_whole(path, found.model_dump_json().encode())
        except (
            OSError
        ) as error:  # a full disk, a home that is read-only: it is a verdict all the same
            self.trouble = str(error)

    def forget(self, digest: str, repeat: int) -> None:
        """Keeps no verdict on this content."""
        try:
            self._path(digest, repeat).unlink(missing_ok=True)
        except OSError as error:
            self.trouble = str(error)

    def _path(self, digest: str, repeat: int) -> Path:
        key = hashlib.sha256(f"{VERSION} {repeat} {digest} {self._caps}".encode()).hexdigest()
        return self._folder / f"{key[:32]}.json"
