"""The worker's temporary folders: gone when their work ends, and swept where their process died."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote

from arena.sandbox.owners import is_alive, this_process


class WorkFolders:
    """Folders below `root`, in one of this process's own, whose name tells whose it is.

    What they hold, the sealed suite among it, must not outlive a process that was killed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._own = root / quote(this_process(), safe="")

    @property
    def parts(self) -> Path:
        """A folder for files that are not whole yet."""
        return self._own / "parts"

    @contextmanager
    def folder(self, name: str) -> Iterator[Path]:
        """A new folder, until the block ends."""
        self._own.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=self._own) as made:
            yield Path(made)

    def sweep(self) -> int:
        """Removes the folders of processes that no longer live; returns how many."""
        doomed = [path for path in self._root.glob("*") if not is_alive(unquote(path.name))]
        for path in doomed:
            shutil.rmtree(path, ignore_errors=True)
        return len(doomed)

    def close(self) -> None:
        """Removes this process's own."""
        shutil.rmtree(self._own, ignore_errors=True)
