"""A challenge's compute: what its runs used, what those under way may use yet, and its cap."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from arena.challenges import Challenge
from arena.state import Run, State

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

    A run reserves `compute.timeout` until it ends; then what its worker took is counted, from the
    lease to the end.
    """
    runs = [run for run in state.runs.values() if run.record.challenge == challenge.id]
    under_way = sum(run.is_under_way for run in runs)
    each = challenge.compute.timeout / _HOUR
    return Spending(
        cap=challenge.budget.worker_hours,
        used=sum(_seconds(run) for run in runs) / _HOUR,
        reserved=under_way * each,
        each=each,
    )


def _seconds(run: Run) -> float:
    """How long a worker had a run that ended; 0 where none did, or it has not ended."""
    leased = next((event.at for event in run.events if event.event == "leased"), None)
    ended = _end(run)
    return (ended - leased).total_seconds() if leased and ended else 0.0


def _end(run: Run) -> datetime | None:
    if run.report:
        return run.report.at
    return run.failure.at if run.failure else None
