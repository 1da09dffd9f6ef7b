"""The counters of this process, in the Prometheus text format, and what is true now beside them.

Counters begin at 0 with the process. What the state knows (validations, runs, queues) is read from
it when asked, so that it is right after a start too. Labels come from the code, never from users.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from arena.errors import StoreUnavailable

if TYPE_CHECKING:
    from arena.health import Health

REGISTRY = CollectorRegistry()
REQUESTS = Counter(
    "arena_requests", "HTTP requests", ["method", "route", "status"], registry=REGISTRY
)
ERRORS = Counter("arena_errors", "Errors that users met", ["code"], registry=REGISTRY)
TRANSACTIONS = Counter(
    "arena_transactions",
    "Decisions: landed, nothing to record, refused, or not taken by the store",
    ["outcome"],
    registry=REGISTRY,
)
COMMITS = Counter("arena_commits", "Commits of records that landed", registry=REGISTRY)
CONFLICTS = Counter(
    "arena_conflicts", "Commits refused since another writer was first", registry=REGISTRY
)


def exposition(health: Health) -> bytes:
    """Everything, as Prometheus scrapes it."""
    now = CollectorRegistry()
    now.register(_Now(health))
    return generate_latest(REGISTRY) + generate_latest(now)


class _Now(Collector):
    """Figures that are read, not counted."""

    def __init__(self, health: Health) -> None:
        self._health = health

    def collect(self) -> Iterator[Metric]:
        yield _gauge("arena_workers", "Workers heard of lately", "state", self._workers())
        try:
            state = self._health.state
        except StoreUnavailable:  # nothing is known yet, and what is counted is told all the same
            return
        validations = CounterMetricFamily(
            "arena_validations", "Validations on record", labels=["outcome"]
        )
        outcomes = Tally(s.validation.outcome for s in state.submissions.values() if s.validation)
        for outcome, count in outcomes.items():
            validations.add_metric([outcome], count)
        yield validations
        yield _gauge("arena_runs", "Runs", "state", Tally(r.state for r in state.runs.values()))
        queues = self._health.queues().model_dump()
        yield _gauge("arena_queue_length", "What waits or is under way", "of", queues)
        yield GaugeMetricFamily("arena_seq", "The last record that was read", value=state.seq)

    def _workers(self) -> dict[str, int]:
        return self._health.workers().model_dump()


def _gauge(name: str, text: str, label: str, values: dict[str, int]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=[label])
    for value, count in values.items():
        family.add_metric([value], count)
    return family
