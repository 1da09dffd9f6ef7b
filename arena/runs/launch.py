"""When a challenge takes a run of a collection."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Literal, NamedTuple

from arena.challenges import Challenge
from arena.errors import (
    BudgetUsedUp,
    ChallengeNotOpen,
    ChallengeNotReady,
    NotNewest,
    NotValid,
    RunsUsedUp,
    RunUnderWay,
    TooFewTasks,
)
from arena.runs.queue import RunQueue
from arena.runs.spending import Spending, spending
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
    state: State, challenge: Challenge, queue: RunQueue, suites: SuiteIndexes, spent: Spending
) -> str | None:
    """Why the challenge takes no runs now, its compute `spent`; None where it does."""
    now = state_of(state, challenge)
    if now != "open":
        return f"{now}: {reason_of(state, challenge)}"
    if reason := why_not_ready(challenge, queue, suites):
        return reason
    return None if spent.is_enough else "its compute budget is used up"


def why_no_leases(state: State, challenge: Challenge | None, suites: SuiteIndexes) -> str | None:
    """Why no worker is given a run of the challenge; None where one is."""
    if challenge is None:
        return "the arena no longer has its challenge"
    now = state_of(state, challenge)
    if now != "open":
        return f"the challenge is {now}: {reason_of(state, challenge)}"
    problem = suites.problem(challenge)
    return problem and f"the challenge's sealed index can't be used: {problem}"


def why_not_ready(challenge: Challenge, queue: RunQueue, suites: SuiteIndexes) -> str | None:
    """What an open challenge lacks to take runs: its index, its time, or a worker's machine."""
    if (problem := suites.problem(challenge)) is not None:
        return f"its sealed index can't be used: {problem}"
    return outside_dates(challenge, datetime.now(UTC)) or lacking(queue)


class Condition(NamedTuple):
    """One thing that must hold for a run to be launched; `require` raises where it does not."""

    name: str
    require: Callable[[], None]


def conditions(
    state: State,
    own: Submission,
    challenge: Challenge,
    queue: RunQueue,
    suites: SuiteIndexes,
) -> list[Condition]:
    """All that must hold for a run of `own` on `challenge`, in the order in which it is asked."""
    return [
        Condition("submission valid", partial(_require_valid, own)),
        Condition("newest of its line", partial(_require_newest, state, own)),
        Condition("enough tasks", partial(_require_tasks, own, challenge)),
        Condition("challenge open", partial(_require_open, state, challenge)),
        Condition("challenge ready", partial(_require_ready, state, challenge, queue, suites)),
        Condition("no run under way", partial(_require_none_under_way, state, own, challenge)),
        Condition("runs left", partial(_require_run_left, state, own, challenge)),
        Condition("budget left", partial(_require_budget, state, challenge)),
    ]


def _require_open(state: State, challenge: Challenge) -> None:
    now = state_of(state, challenge)
    if now != "open":
        raise ChallengeNotOpen(
            challenge=challenge.id, state=now, reason=reason_of(state, challenge)
        )


def _require_ready(
    state: State, challenge: Challenge, queue: RunQueue, suites: SuiteIndexes
) -> None:
    reason = why_not_ready(challenge, queue, suites)
    if reason and state_of(state, challenge) == "open":
        raise ChallengeNotReady(challenge=challenge.id, reason=reason)


def _require_valid(own: Submission) -> None:
    if not own.stands:
        found = own.validation.outcome if own.validation else "not validated yet"
        raise NotValid(submission=own.record.id, state="withdrawn" if own.withdrawal else found)


def _require_newest(state: State, own: Submission) -> None:
    newest = state.newest_valid(own.line)
    if newest and newest.collection != own.collection:
        raise NotNewest(submission=own.record.id, newest=newest.record.id)


def _require_tasks(own: Submission, challenge: Challenge) -> None:
    tasks = len(own.validation.packages) if own.validation else 0
    if tasks < challenge.gates.min_tasks:
        raise TooFewTasks(challenge=challenge.id, needed=challenge.gates.min_tasks, tasks=tasks)


def _require_none_under_way(state: State, own: Submission, challenge: Challenge) -> None:
    for run in state.line_runs(own.line, challenge.id):
        if run.is_under_way:
            raise RunUnderWay(challenge=challenge.id, run=run.record.id)


def _require_run_left(state: State, own: Submission, challenge: Challenge) -> None:
    count = challenge.ranking.runs_per_collection
    if sum(run.costs_author for run in state.line_runs(own.line, challenge.id)) >= count:
        raise RunsUsedUp(count=count, challenge=challenge.id)


def _require_budget(state: State, challenge: Challenge) -> None:
    spent = spending(state, challenge)
    if not spent.is_enough:
        raise BudgetUsedUp(
            challenge=challenge.id,
            cap=f"{spent.cap:g}",
            used=f"{spent.used:.1f}",
            reserved=f"{spent.reserved:.1f}",
            each=f"{spent.each:.1f}",
        )
