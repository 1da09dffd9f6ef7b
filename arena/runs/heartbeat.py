"""Signs of life: what a worker tells the arena while a run or a replay is under way."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any, Self

from arena.client import ArenaClient, RemoteError
from arena.errors import ArenaError
from arena.posttrain.events import StageEvent
from arena.runs.messages import Lease
from arena.runs.replays import ReplayLease
from arena.runs.saying import Saying

log = logging.getLogger(__name__)

FINAL_MESSAGES = 5
"""The most messages of lines at a stage's end, which waits for them; a beat brings one."""
OVER = frozenset({"lease_lost", "unknown_run"})
"""Codes of the arena's refusal where a lease is no longer the worker's."""


class _Life:
    """A thread that beats every so many seconds, and at once when woken, until the block ends.

    What it tells the arena is about one lease; it learns whether that is lost.
    """

    def __init__(
        self, client: ArenaClient, stopping: threading.Event, path: str, lease: str, seconds: float
    ) -> None:
        self._client = client
        self._stopping = stopping
        self._path = path
        self._lease = lease
        self._seconds = seconds
        self.lease_lost = False
        """Whether the arena said that the lease is no longer this worker's."""
        self._ended = threading.Event()
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._go_on_beating, name="heartbeat", daemon=True)

    @property
    def lost(self) -> bool:
        """Whether to stop: the lease is lost, or the worker is being stopped."""
        return self.lease_lost or self._stopping.is_set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._woken.set()
        self._thread.join(timeout=10)

    def _beat(self) -> None:
        raise NotImplementedError

    def _go_on_beating(self) -> None:
        while not self._ended.is_set():
            self._woken.clear()
            self._beat()
            self._woken.wait(self._seconds)

    def _tell(self, route: str, body: dict[str, object]) -> dict[str, Any] | None:
        """The arena's answer; None where it gives none, or refuses."""
        try:
            return self._client.post(f"{self._path}/{route}", {"lease": self._lease, **body})
        except RemoteError as exc:
            self.lease_lost |= exc.remote_code in OVER
            log.warning("%s: %s: %s", self._path, route, exc)
        except ArenaError as exc:
            log.warning("%s: no %s: %s", self._path, route, exc)
        return None


class Heartbeat(_Life):
    """Sends a run's newest counts until the run ends, and learns whether to stop."""

    def __init__(
        self,
        client: ArenaClient,
        lease: Lease,
        stopping: threading.Event,
        secrets: Sequence[str] = (),
    ) -> None:
        path = f"/worker/runs/{lease.run}"
        self._saying = Saying(secrets)
        self._passing_on = threading.Lock()
        self.on_line = self._saying.say
        super().__init__(client, stopping, path, lease.lease, lease.heartbeat_seconds)
        self._event = StageEvent("setup", "started")

    def on_event(self, event: StageEvent) -> None:
        """Takes what the run says: counts for the next beat, the end of a stage as a record."""
        self._event = event
        self._woken.set()
        if event.status == "finished":
            self.pass_on(FINAL_MESSAGES)
            self._tell("stages", {"stage": event.stage, "seconds": event.seconds})

    def pass_on(self, messages: int) -> None:
        """Tells the arena what was said, in at most so many messages."""
        with self._passing_on:  # what comes out of order is taken for what came before
            for message in self._saying.messages(messages):
                self._tell("logs", message)

    def _beat(self) -> None:
        event = self._event
        self.pass_on(1)
        counts = {"done": event.done, "total": event.total, "ahead": event.ahead}
        self._tell("heartbeat", {"stage": event.stage, **counts, "reward": event.reward_so_far})


class ReplayHeartbeat(_Life):
    """Sends how many packages of a replay are done, and learns whether to begin another."""

    def __init__(self, client: ArenaClient, lease: ReplayLease, stopping: threading.Event) -> None:
        path = f"/worker/replays/{lease.collection}"
        super().__init__(client, stopping, path, lease.lease, lease.heartbeat_seconds)
        self._go_on = True
        self._counts = (0, 0)

    def count(self, done: int, total: int) -> None:
        """Takes how far the replay is; it is told with the next question."""
        self._counts = (done, total)

    def goes_on(self) -> bool:
        """Asks the arena whether to begin another package: not where a run waits for a worker."""
        self._beat()
        return self._go_on and not self.lost

    def _beat(self) -> None:
        done, total = self._counts
        answer = self._tell("heartbeat", {"done": done, "total": total})
        if answer is not None:
            self._go_on = bool(answer["go_on"])
