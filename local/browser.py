"""Chromium for the browser tests: one that is there, else Debian's where it may be installed."""

from __future__ import annotations

import fcntl
import shutil
from pathlib import Path
from typing import NamedTuple

from local import debian

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


class Browser(NamedTuple):
    """Chromium's path, or None with the reason in words."""

    path: str | None
    reason: str | None = None


def ensure_chromium(directory: Path) -> Browser:
    """A Chromium that can be started; `directory` takes apt's log."""
    if path := _find():
        return Browser(path)
    if reason := debian.why_not_installable():
        return Browser(None, f"no Chromium: {reason}, so none can be installed")
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "chromium-install.log").open("wb") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        try:
            if _find() is None:
                debian.install(["chromium"], log)
        except debian.InstallError as error:
            return Browser(None, f"no Chromium: {error}")
    return Browser(_find(), "no Chromium: the package brought none")


def _find() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)
