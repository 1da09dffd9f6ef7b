"""How the arena is: the store, the Hub, the queues, the workers; what is wrong, named.

Reading goes on from memory whatever fails, so health is answered with 200 and says what it lacks.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

import arena
from arena.ledger import Ledger
from arena.runs.queue import RunQueue
from arena.state import State


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class StoreHealth(_Part):
    """`commit` and `at` are the store's last commit; `problem` says why it is not as it should.

    `set_aside`: lines of it that are no records, or contradict others.
    """

    reachable: bool
    writable: bool
    commit: str | None = None
    at: datetime | None = None
    problem: str | None = None
    set_aside: int = 0


class Queues(_Part):
    """How many wait, and of runs how many are under way."""

    runs: int
    running: int
    replays: int
    validations: int


class Workers(_Part):
    """Workers heard of within a lease's time; `lacking` ones cannot work."""

    ready: int
    lacking: int


class HealthView(_Part):
    ok: Literal[True] = True
    status: Literal["ok", "degraded"]
    trouble: list[str]
    version: str
    seq: int
    store: StoreHealth
    hub_reachable: bool
    queues: Queues
    workers: Workers


class Health:
    """Reads all of it from memory: the ledger looks at its store every few seconds."""

    def __init__(self, ledger: Ledger, queue: RunQueue) -> None:
        self._ledger = ledger
        self._queue = queue

    @property
    def state(self) -> State:
        """What is true, as far as this process has read."""
        return self._ledger.state

    def view(self) -> HealthView:
        """How everything is."""
        store = self._store()
        queues, workers = self.queues(), self.workers()
        trouble = [store.problem] if store.problem else []
        if queues.runs and not workers.ready:
            lack = (
                "each that is heard of lacks something" if workers.lacking else "none is heard of"
            )
            trouble.append(f"runs wait and no worker is ready: {lack}")
        return HealthView(
            status="degraded" if trouble else "ok",
            trouble=trouble,
            version=arena.__version__,
            seq=self.state.seq,
            store=store,
            hub_reachable=store.reachable,
            queues=queues,
            workers=workers,
        )

    def queues(self) -> Queues:
        """What waits."""
        state = self.state
        return Queues(
            runs=len(state.queue()),
            running=sum(run.state == "running" for run in state.runs.values()),
            replays=len(state.unreplayed()),
            validations=len(state.unvalidated),
        )

    def workers(self) -> Workers:
        """Who is there to work."""
        found = self._queue.workers().values()
        ready = sum(presence.missing is None for presence in found)
        return Workers(ready=ready, lacking=len(found) - ready)

    def _store(self) -> StoreHealth:
        commit, at = self._ledger.head
        trouble = self._ledger.trouble
        return StoreHealth(
            reachable=trouble is None or trouble.reachable,
            writable=trouble is None,
            commit=commit or None,
            at=at,
            problem=f"the results store: {trouble.problem}" if trouble else None,
            set_aside=len(self._ledger.unreadable),
        )
