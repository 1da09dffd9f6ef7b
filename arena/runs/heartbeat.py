"""A run's signs of life: what the worker tells the arena while a run is under way."""

from __future__ import annotations

import logging
import threading
import time

from arena.client import ArenaClient, RemoteError
from arena.errors import ArenaError
from arena.posttrain.events import StageEvent
from arena.runs.queue import Lease

log = logging.getLogger(__name__)


class Heartbeat:
    """A thread that sends the newest counts until the run ends, and learns whether to stop."""

    def __init__(self, client: ArenaClient, lease: Lease, stopping: threading.Event) -> None:
        self._client = client
        self._lease = lease
        self._stopping = stopping
        self._ended = threading.Event()
        self._news = threading.Event()
        self._lease_lost = False
        self._event = StageEvent("setup", "started")
        self._stage_began = time.monotonic()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    @property
    def lost(self) -> bool:
        """Whether to stop: the lease is lost, or the worker is being stopped."""
        return self._lease_lost or self._stopping.is_set()

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._news.set()
        self._thread.join(timeout=10)

    def on_event(self, event: StageEvent) -> None:
        """Takes what the run says: counts for the next beat, the end of a stage as a record."""
        self._event = event
        self._news.set()
        if event.status == "started":
            self._stage_began = time.monotonic()
        elif event.status == "finished":
            seconds = round(time.monotonic() - self._stage_began, 3)
            self._tell("stages", {"stage": event.stage, "seconds": seconds})

    def _beat(self) -> None:
        while not self._ended.is_set():
            event = self._event
            counts = {"done": event.done, "total": event.total, "reward": event.reward_so_far}
            self._tell("heartbeat", {"stage": event.stage, **counts})
            self._news.clear()
            self._news.wait(self._lease.heartbeat_seconds)

    def _tell(self, route: str, body: dict[str, object]) -> None:
        body = {"lease": self._lease.lease, **body}
        try:
            self._client.post(f"/worker/runs/{self._lease.run}/{route}", body)
        except RemoteError as exc:
            if exc.remote_code in {"lease_lost", "unknown_run"}:
                self._lease_lost = True
            log.warning("%s: %s: %s", self._lease.run, route, exc)
        except ArenaError as exc:
            log.warning("%s: no %s: %s", self._lease.run, route, exc)
