"""A verifier that gets ready while the agent acts and while what it left is read.

Starting a container and unpacking an archive are each a tenth of a short trial, and neither needs
to wait for the agent.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future

from arena.sandbox.lookups import Lookups
from arena.sandbox.verification import Verdict, Verifier


class Ahead:
    """One verification, of which as much as can be is done in other threads."""

    def __init__(self, threads: Executor, make: Callable[[], Verifier]) -> None:
        self._threads = threads
        self._making = threads.submit(make)
        self._carried: Future[bytes] = Future()
        self._receiving: Future[None] = Future()

    def lookups(self) -> Lookups:
        """Where the image's programs look for others; to be asked before the files come."""
        return self._making.result().lookups()

    def expect(self, acted: bool) -> None:
        """The agent is done, and its files come; `acted`: there was one to blame for them."""
        self._receiving = self._threads.submit(self._receive, acted)

    def verdict(self, carried: bytes) -> Verdict:
        """What the verifier says of an agent's files; it is gone afterwards."""
        try:
            self._carried.set_result(carried)
            self._receiving.result()
            return self._making.result().verdict()
        finally:
            self.discard()

    def discard(self) -> None:
        """Leave no container, whatever is under way."""
        self._carried.cancel()
        self._making.add_done_callback(_discard)

    def _receive(self, acted: bool) -> None:
        self._making.result().receive(self._carried, acted)


def _discard(making: Future[Verifier]) -> None:
    if not making.cancelled() and making.exception() is None:
        making.result().discard()
