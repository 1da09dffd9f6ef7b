"""When a challenge takes a run of a collection."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from arena.challenges import Challenge
from arena.errors import (
    ChallengeNotOpen,
    ChallengeNotReady,
    NotNewest,
    NotValid,
    RunsUsedUp,
    RunUnderWay,
    TooFewTasks,
)
from arena.runs.queue import RunQueue
from arena.state import State, Submission
from arena.suites import SuiteIndexes


def state_of(state: State, challenge: Challenge) -> Literal["open", "paused", "closed"]:
    """The challenge's state: of its last record, else of its file."""
    changed = state.challenge_states.get(challenge.id)
    return changed.state if changed else challenge.initial_state.state


def reason_of(state: State, challenge: Challenge) -> str:
    """Why the challenge is in its state."""
    changed = state.challenge_states.get(challenge.id)
    return changed.reason if changed else challenge.initial_state.reason


def lacking(queue: RunQueue) -> str | None:
    """What every worker that is heard of says it lacks; None where one is ready, or none is."""
    presences = queue.workers().values()
    if not presences or any(presence.missing is None for presence in presences):
        return None
    return next(presence.missing for presence in presences)


def outside_dates(challenge: Challenge, now: datetime) -> str | None:
    """What the challenge's dates say against a run now; None where nothing."""
    dates = challenge.dates
    if dates and now < dates.opens:
        return f"it opens on {_utc(dates.opens)}"
    if dates and now >= dates.closes:
        return f"it closed on {_utc(dates.closes)}"
    return None


def _utc(when: datetime) -> str:
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def why_no_runs(
    state: State, challenge: Challenge, queue: RunQueue, suites: SuiteIndexes
) -> str | None:
    """Why the challenge takes no runs now; None where it does."""
    now = state_of(state, challenge)
    if now != "open":
        return f"{now}: {reason_of(state, challenge)}"
    if (problem := suites.problem(challenge)) is not None:
        return f"its sealed index can't be used: {problem}"
    return outside_dates(challenge, datetime.now(UTC)) or lacking(queue)


def require_takes_runs(
    state: State, challenge: Challenge, queue: RunQueue, suites: SuiteIndexes
) -> None:
    """Raises ChallengeNotOpen or ChallengeNotReady where the challenge takes no runs."""
    now = state_of(state, challenge)
    if now != "open":
        raise ChallengeNotOpen(
            challenge=challenge.id, state=now, reason=reason_of(state, challenge)
        )
    if reason := why_no_runs(state, challenge, queue, suites):
        raise ChallengeNotReady(challenge=challenge.id, reason=reason)


def require_runnable(state: State, own: Submission, challenge: Challenge) -> None:
    """Raises NotValid, NotNewest or TooFewTasks where the submission is not one to run."""
    if not own.stands:
        found = own.validation.outcome if own.validation else "not validated yet"
        raise NotValid(submission=own.record.id, state="withdrawn" if own.withdrawal else found)
    newest = state.newest_valid(own.line)
    if newest and newest.collection != own.collection:
        raise NotNewest(submission=own.record.id, newest=newest.record.id)
    tasks = len(own.validation.packages) if own.validation else 0
    if tasks < challenge.gates.min_tasks:
        raise TooFewTasks(challenge=challenge.id, needed=challenge.gates.min_tasks, tasks=tasks)


def require_run_left(state: State, own: Submission, challenge: Challenge) -> None:
    """Raises RunUnderWay or RunsUsedUp where the line's runs are used, or one is under way."""
    runs = state.line_runs(own.line, challenge.id)
    for run in runs:
        if run.state in {"queued", "running"}:
            raise RunUnderWay(challenge=challenge.id, run=run.record.id)
    count = challenge.ranking.runs_per_collection
    if sum(run.costs_author for run in runs) >= count:
        raise RunsUsedUp(count=count, challenge=challenge.id)
