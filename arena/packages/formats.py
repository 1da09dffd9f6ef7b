"""Which format a folder is in, by the names of what lies in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

Format = Literal["harbor", "terminal-bench"]

_TERMINAL_BENCH = frozenset({"solution.sh", "solution.yaml", "run-tests.sh", "tests"})


def recognise_format(folder: Path) -> Format | None:
    """The format of the task in `folder`; None for a task package, and for what is no task.

    Only the names at the folder's root are read, and no link is followed.
    """
    try:
        if folder.is_symlink() or not folder.is_dir():
            return None
        with os.scandir(folder) as entries:
            names = {entry.name for entry in entries if not entry.is_symlink()}
    except OSError:
        return None  # it may not be read, or has a name that no file system takes
    if "task.md" in names:
        return None
    if "task.toml" in names:
        return "harbor"
    if "task.yaml" in names and names & _TERMINAL_BENCH:
        return "terminal-bench"
    return None
