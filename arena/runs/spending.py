"""A challenge's compute: what its runs used, what those under way may use yet, and its cap."""

from __future__ import annotations

from typing import NamedTuple

from arena.challenges import Challenge
from arena.state import Attempt, State

_HOUR = 3600.0


class Spending(NamedTuple):
    """Hours of one worker."""

    cap: float
    used: float
    reserved: float
    each: float
    """What a run reserves at its launch: the longest it may take."""

    @property
    def is_enough(self) -> bool:
        """Whether one more run fits under the cap."""
        return self.used + self.reserved + self.each <= self.cap


def spending(state: State, challenge: Challenge) -> Spending:
    """What the challenge's runs have used of its budget, whatever became of them.

    A run reserves `compute.timeout` until it ends. What a worker took is counted once it has the
    run no more, from the lease on.
    """
    runs = [run for run in state.runs.values() if run.record.challenge == challenge.id]
    under_way = sum(run.is_under_way for run in runs)
    each = challenge.compute.timeout / _HOUR
    return Spending(
        cap=challenge.budget.worker_hours,
        used=sum(_seconds(attempt) for run in runs for attempt in run.attempts) / _HOUR,
        reserved=under_way * each,
        each=each,
    )


def _seconds(attempt: Attempt) -> float:
    """How long a worker had a run that it has no more; 0 while it has it."""
    return (attempt.ended - attempt.leased).total_seconds() if attempt.ended else 0.0
