"""Runs whose worker nobody hears any more.

A heartbeat reaches one process, and two may serve one store, as where a Space starts beside its old
self. So silence alone fails no run. A process that hears nothing of a worker for a lease's time
doubts the run, on record; one that hears the worker answers, on record too. A doubt that nobody
answers: the worker is lost.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from arena.ledger import Ledger
from arena.records import AnyRecord, RunEventRecord, new_id
from arena.runs.queue import BY, RunQueue, lost
from arena.state import Run, State

log = logging.getLogger(__name__)

ANSWER_LEASES = 4
"""Lease times in which a doubt is answered: another process reads the store and commits to it."""
TRUST_LEASES = 10
"""Lease times for which another process's answer is taken."""

_Move = Literal["doubted", "heard", "lost"]


@dataclass
class _Watch:
    """What this process knows of a running run: until when silence is nothing, and its doubt."""

    quiet_until: float
    doubt: str | None = None
    doubt_seen: float = 0.0


class Silence:
    """Doubts, answers, and takes runs from workers that are lost."""

    def __init__(self, ledger: Ledger, queue: RunQueue, lease_seconds: float) -> None:
        self._ledger = ledger
        self._queue = queue
        self._lease = lease_seconds
        self._watched: dict[str, _Watch] = {}

    def sweep(self) -> None:
        """Looks at every running run, and records what is due in one transaction."""
        now = time.monotonic()
        running = [run for run in self._ledger.state.runs.values() if run.state == "running"]
        # after a restart nothing was heard yet: the worker gets a lease's time to speak
        names = [run.record.id for run in running]
        self._watched = {n: self._watched.get(n) or _Watch(now + self._lease) for n in names}
        due = [(run, move) for run in running if (move := self._move(run, now))]
        for run, move in due:
            log.warning("%s, of the worker %s: %s", run.record.id, run.worker, move)
        if due:
            self._ledger.transact(lambda state: list(self._events(state, due)))

    def _move(self, run: Run, now: float) -> _Move | None:
        watch = self._watched[run.record.id]
        heard = self._queue.last_heard(run.record.id)
        audible = heard is not None and now - heard < self._lease
        if run.doubt is None:
            if watch.doubt:  # it was answered, and not by this process
                watch.doubt, watch.quiet_until = None, now + TRUST_LEASES * self._lease
            return "doubted" if not audible and now > watch.quiet_until else None
        if audible:
            watch.doubt = None
            return "heard"
        if watch.doubt != run.doubt.id:
            watch.doubt, watch.doubt_seen = run.doubt.id, now
        return "lost" if now - watch.doubt_seen > ANSWER_LEASES * self._lease else None

    def _events(self, state: State, due: Iterable[tuple[Run, _Move]]) -> Iterable[AnyRecord]:
        """The records of what is still as it was when it was looked at."""
        silent = (1 + ANSWER_LEASES) * self._lease
        for before, move in due:
            run = state.runs[before.record.id]
            if run.state != "running" or run.lease != before.lease or run.doubt != before.doubt:
                continue
            name = run.record.id
            if move == "lost":
                reason = f"The worker {run.worker} was not heard of for {silent:.0f} s."
                yield lost(run, BY, "worker_lost", reason)
            else:
                id_ = new_id(RunEventRecord.prefix)
                yield RunEventRecord(id=id_, by=BY, run=name, event=move, lease=run.lease)
