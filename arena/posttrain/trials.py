"""Many trials at once: every one executed, with progress told and cancelling watched for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event, Lock
from typing import TypeVar

from arena.posttrain.events import Progress
from arena.posttrain.faults import Cancelled
from arena.sandbox import Sandbox

POLL_SECONDS = 0.5
"""How often a stage looks up from its trials."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Crew:
    """Does pieces of work in the sandbox's threads, until the run is called off."""

    sandbox: Sandbox
    cancelled: Callable[[], bool]

    def do(self, calls: Sequence[Callable[[], Result]], progress: Progress) -> list[Result]:
        """The results of `calls`, in their order; each done is counted on `progress`.

        Events and polls are this thread's, so that their receivers need no locks.

        Raises:
            Cancelled: the run was called off; what had begun is waited for.
        """
        batch = _Batch()
        with ThreadPoolExecutor(1) as lead:
            results = lead.submit(self.sandbox.map, batch.run, calls)
            try:
                while not results.done():
                    wait([results], POLL_SECONDS)
                    self.check()
                    batch.check()
                    progress.advance(batch.count())
            finally:
                batch.stopped.set()
            progress.advance(batch.count())
            return results.result()

    def check(self) -> None:
        """Raises Cancelled where the run was called off."""
        if self.cancelled():
            raise Cancelled


class _Batch:
    """What the threads of one batch share: a count of what is done, and when to stop."""

    def __init__(self) -> None:
        self.stopped = Event()
        self._failure: Exception | None = None
        self._lock = Lock()
        self._done = 0

    def run(self, call: Callable[[], Result]) -> Result:
        if self.stopped.is_set():
            raise Cancelled
        try:
            result = call()
        except Exception as exc:
            self._failure = exc
            raise
        with self._lock:
            self._done += 1
        return result

    def check(self) -> None:
        """Raises what failed, without waiting for the calls before it in the order."""
        if self._failure is not None:
            raise self._failure

    def count(self) -> int:
        """How many were done since this was last asked."""
        with self._lock:
            done, self._done = self._done, 0
        return done
