"""What goes on by itself: lost runs fail, accepted collections are released, validations resume."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

import httpx
from huggingface_hub.errors import HfHubHTTPError

from arena.errors import ArenaError

log = logging.getLogger(__name__)


class Keeper:
    """A thread that repeats its tasks until closed; a task that fails is tried again soon.

    Each task looks for what is undone in the state, so that nothing is lost with a process.
    """

    def __init__(self, tasks: Sequence[Callable[[], object]], seconds: float) -> None:
        self._tasks = tasks
        self._seconds = seconds
        self._closing = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="keeper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Something is to be done now."""
        self._wake.set()

    def close(self) -> None:
        """Ends after the task that is under way."""
        self._closing.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=30)

    def _keep(self) -> None:
        while not self._closing.is_set():
            self._wake.wait(self._seconds)
            self._wake.clear()
            for task in self._tasks:
                if not self._closing.is_set():
                    _attempt(task)


def _attempt(task: Callable[[], object]) -> None:
    name = getattr(task, "__qualname__", repr(task))
    try:
        task()
    except (ArenaError, HfHubHTTPError, httpx.HTTPError) as exc:
        log.warning("%s: %s; tried again soon", name, type(exc).__name__)
    except Exception:
        log.exception("%s met a fault; tried again soon", name)
