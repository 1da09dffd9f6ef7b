"""How the arena is: the store, the Hub, the queues, the workers; what is wrong, named.

Reading goes on from memory whatever fails, so health is answered with 200 and says what it lacks.
"""

from __future__ import annotations

import threading
import time
from datetime import datetime
from typing import Literal

import httpx
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError
from pydantic import BaseModel, ConfigDict

import arena
from arena import metrics
from arena.errors import ArenaError, NotRecorded, OutcomeUnknown
from arena.ledger import Decide, Ledger
from arena.records import AnyRecord
from arena.runs.queue import RunQueue
from arena.state import State

_PROBE_SECONDS = 10.0
_PROBE_TIMEOUT = 5.0


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class StoreHealth(_Part):
    """`commit` and `at` are the store's last commit; `problem` says why it is not as it should."""

    reachable: bool
    writable: bool
    commit: str | None = None
    at: datetime | None = None
    problem: str | None = None


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


class WatchedLedger(Ledger):
    """The ledger, with what became of its last transaction."""

    problem: str | None = None

    def transact(self, decide: Decide) -> list[AnyRecord]:
        """As the ledger's; counted."""
        try:
            records = super().transact(decide)
        except (NotRecorded, OutcomeUnknown) as exc:
            self.problem = exc.message
            metrics.TRANSACTIONS.labels("not_recorded").inc()
            raise
        except ArenaError:
            metrics.TRANSACTIONS.labels("refused").inc()
            raise
        if records:
            self.problem = None
        metrics.TRANSACTIONS.labels("landed" if records else "nothing").inc()
        return records


class Health:
    """Asks the Hub about the store now and then; the rest is read from memory."""

    def __init__(self, ledger: WatchedLedger, queue: RunQueue, api: HfApi, repo: str) -> None:
        self._ledger = ledger
        self._queue = queue
        self._api = api
        self._repo = repo
        self._lock = threading.Lock()
        self._probed = (-_PROBE_SECONDS, True, StoreHealth(reachable=True, writable=True))

    @property
    def state(self) -> State:
        """What is true, as far as this process has read."""
        return self._ledger.state

    def view(self) -> HealthView:
        """How everything is."""
        hub_reachable, store = self._store()
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
            hub_reachable=hub_reachable,
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
            validations=sum(s.is_under_way for s in state.submissions.values()),
        )

    def workers(self) -> Workers:
        """Who is there to work."""
        found = self._queue.workers().values()
        ready = sum(presence.missing is None for presence in found)
        return Workers(ready=ready, lacking=len(found) - ready)

    def _store(self) -> tuple[bool, StoreHealth]:
        """Whether the Hub answers, and how the store is; asked anew every ten seconds."""
        with self._lock:
            if time.monotonic() - self._probed[0] >= _PROBE_SECONDS:
                hub_reachable, store = self._probe()
                self._probed = (time.monotonic(), hub_reachable, store)
            _, hub_reachable, store = self._probed
        if store.reachable and (refused := self._ledger.problem):
            problem = f"the last write was not taken: {refused}"
            store = store.model_copy(update={"writable": False, "problem": problem})
        return hub_reachable, store

    def _probe(self) -> tuple[bool, StoreHealth]:
        try:
            info = self._api.dataset_info(self._repo, timeout=_PROBE_TIMEOUT)
        except HfHubHTTPError as exc:
            status = exc.response.status_code
            problem = f"the results store cannot be read: status {status}"
            return status < 500, StoreHealth(reachable=False, writable=False, problem=problem)
        except httpx.HTTPError as exc:
            problem = f"the Hub does not answer: {type(exc).__name__}"
            return False, StoreHealth(reachable=False, writable=False, problem=problem)
        store = StoreHealth(reachable=True, writable=True, commit=info.sha, at=info.last_modified)
        return True, store
