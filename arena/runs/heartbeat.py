"""Signs of life: what a worker tells the arena while a run or a replay is under way."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from arena.client import ArenaClient, RemoteError
from arena.errors import ArenaError
from arena.posttrain.events import StageEvent
from arena.runs.queue import Lease
from arena.runs.replays import ReplayLease

log = logging.getLogger(__name__)

_OVER = {"lease_lost", "unknown_run"}


class _Pulse:
    """A thread that beats every so many seconds, and at once when woken, until it is ended."""

    def __init__(self, beat: Callable[[], object], seconds: float) -> None:
        self._beat = beat
        self._seconds = seconds
        self._ended = threading.Event()
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        self._woken.set()

    def end(self) -> None:
        self._ended.set()
        self._woken.set()
        self._thread.join(timeout=10)

    def _go_on(self) -> None:
        while not self._ended.is_set():
            self._woken.clear()
            self._beat()
            self._woken.wait(self._seconds)


class Heartbeat:
    """Sends a run's newest counts until the run ends, and learns whether to stop."""

    def __init__(self, client: ArenaClient, lease: Lease, stopping: threading.Event) -> None:
        self._client = client
        self._lease = lease
        self._stopping = stopping
        self._lease_lost = False
        self._event = StageEvent("setup", "started")
        self._stage_began = time.monotonic()
        self._pulse = _Pulse(self._beat, lease.heartbeat_seconds)

    @property
    def lost(self) -> bool:
        """Whether to stop: the lease is lost, or the worker is being stopped."""
        return self._lease_lost or self._stopping.is_set()

    def __enter__(self) -> Heartbeat:
        self._pulse.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._pulse.end()

    def on_event(self, event: StageEvent) -> None:
        """Takes what the run says: counts for the next beat, the end of a stage as a record."""
        self._event = event
        self._pulse.wake()
        if event.status == "started":
            self._stage_began = time.monotonic()
        elif event.status == "finished":
            seconds = round(time.monotonic() - self._stage_began, 3)
            self._tell("stages", {"stage": event.stage, "seconds": seconds})

    def _beat(self) -> None:
        event = self._event
        counts = {"done": event.done, "total": event.total, "reward": event.reward_so_far}
        self._tell("heartbeat", {"stage": event.stage, **counts})

    def _tell(self, route: str, body: dict[str, object]) -> None:
        body = {"lease": self._lease.lease, **body}
        try:
            self._client.post(f"/worker/runs/{self._lease.run}/{route}", body)
        except RemoteError as exc:
            self._lease_lost |= exc.remote_code in _OVER
            log.warning("%s: %s: %s", self._lease.run, route, exc)
        except ArenaError as exc:
            log.warning("%s: no %s: %s", self._lease.run, route, exc)


class ReplayHeartbeat:
    """Sends how many packages of a replay are done, and learns whether to begin another."""

    def __init__(self, client: ArenaClient, lease: ReplayLease, stopping: threading.Event) -> None:
        self._client = client
        self._lease = lease
        self._stopping = stopping
        self._lease_lost = False
        self._go_on = True
        self._counts = (0, 0)
        self._pulse = _Pulse(self.goes_on, lease.heartbeat_seconds)

    @property
    def lost(self) -> bool:
        """Whether to stop at once: the lease is lost, or the worker is being stopped."""
        return self._lease_lost or self._stopping.is_set()

    def __enter__(self) -> ReplayHeartbeat:
        self._pulse.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._pulse.end()

    def count(self, done: int, total: int) -> None:
        """Takes how far the replay is; it is told with the next question."""
        self._counts = (done, total)

    def goes_on(self) -> bool:
        """Asks the arena whether to begin another package: not where a run waits for a worker."""
        done, total = self._counts
        body = {"lease": self._lease.lease, "done": done, "total": total}
        collection = self._lease.collection
        try:
            answer = self._client.post(f"/worker/replays/{collection}/heartbeat", body)
            self._go_on = bool(answer["go_on"])
        except RemoteError as exc:
            self._lease_lost |= exc.remote_code in _OVER
            log.warning("replay of %s: %s", collection[:12], exc)
        except ArenaError as exc:
            log.warning("replay of %s: no heartbeat: %s", collection[:12], exc)
        return self._go_on and not self.lost
