"""A challenge's compute budget, and every condition of a launch told before it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from arena.identity import Identity
from arena.runs.messages import WORKER_STOPPED, Failure
from arena.runs.spending import spending
from arena.service import Arena
from tests.service.conftest import refusal
from tests.service.fronts import Fronts
from tests.service.scripted import leased, ready, scored

Who = Callable[[str], Identity]


def outcomes(arena: Arena, who: Identity, submission: str) -> dict[str, str]:
    found = arena.preflight(who, submission, "demo")
    assert found.ready == ("fail" not in {c.outcome for c in found.conditions})
    return {c.name: c.outcome for c in found.conditions}


def with_budget(arena: Arena, runs: float) -> None:
    """Gives the demo a budget of so many runs' reservations."""
    challenge = arena.challenges.challenges["demo"]
    hours = runs * challenge.compute.timeout / 3600
    budget = challenge.budget.model_copy(update={"worker_hours": hours})
    arena.challenges.challenges["demo"] = challenge.model_copy(update={"budget": budget})


def test_every_condition_is_named_and_holds(arena: Arena, who: Who, valid: str) -> None:
    arena.queue.lease("arena-worker", ready())
    assert outcomes(arena, who("author"), valid) == {
        "author's or editor's rights": "ok",
        "submission valid": "ok",
        "newest of its line": "ok",
        "enough tasks": "ok",
        "challenge open": "ok",
        "challenge ready": "ok",
        "no run under way": "ok",
        "runs left": "ok",
        "budget left": "ok",
        "oracles proven": "skip",
        "a worker is connected": "ok",
    }
    assert not arena.ledger.state.runs


def test_all_that_fails_is_told_at_once(arena: Arena, who: Who, valid: str) -> None:
    arena.launch(who("author"), valid, "demo")
    arena.set_challenge_state(who("editor"), "demo", "paused", "The model changes.")
    found = arena.preflight(who("rival"), valid, "demo")
    failed = {c.name: c.code for c in found.conditions if c.outcome == "fail"}
    assert failed == {
        "author's or editor's rights": "not_yours",
        "challenge open": "challenge_not_open",
        "no run under way": "run_under_way",
    }
    why = {c.name: c.why for c in found.conditions}
    assert "The model changes." in why["challenge open"]
    unready = {c.name for c in found.conditions if c.outcome == "skip"}
    assert unready == {"oracles proven", "a worker is connected"}


def test_what_fails_at_preflight_is_what_refuses_the_launch(
    arena: Arena, who: Who, valid: str
) -> None:
    arena.launch(who("author"), valid, "demo")
    found = arena.preflight(who("author"), valid, "demo")
    codes = [c.code for c in found.conditions if c.outcome == "fail"]
    assert codes == [refusal(lambda: arena.launch(who("author"), valid, "demo"))]


def test_a_launch_reserves_and_its_end_settles(arena: Arena, who: Who, valid: str) -> None:
    with_budget(arena, runs=1.5)
    run = arena.launch(who("author"), valid, "demo").id
    view = arena.read.challenge_view("demo")
    each = arena.challenges.challenges["demo"].compute.timeout / 3600
    assert (view.used_hours, view.reserved_hours) == (0, round(each, 2))
    assert (view.takes_runs, view.why_not) == (False, "its compute budget is used up")
    scored(arena, run)
    view = arena.read.challenge_view("demo")
    took = arena.ledger.state.runs[run]
    lease = next(event for event in took.events if event.event == "leased")
    assert took.report
    assert view.used_hours == round((took.report.at - lease.at).total_seconds() / 3600, 2)
    assert view.reserved_hours == 0
    assert view.takes_runs
    arena.launch(who("author"), valid, "demo")


def test_no_run_is_launched_over_the_budget(arena: Arena, who: Who, valid: str) -> None:
    with_budget(arena, runs=0.9)
    assert refusal(lambda: arena.launch(who("author"), valid, "demo")) == "budget_used_up"
    assert outcomes(arena, who("author"), valid)["budget left"] == "fail"
    with_budget(arena, runs=1)
    arena.launch(who("author"), valid, "demo")


def test_what_no_worker_had_used_nothing(arena: Arena, who: Who, valid: str) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    arena.cancel(who("author"), run, "A mistake.")
    view = arena.read.challenge_view("demo")
    assert (view.used_hours, view.reserved_hours) == (0, 0)


def test_a_failed_run_used_what_its_worker_took(arena: Arena, who: Who, valid: str) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    lease = leased(arena)
    fault = Failure(lease=lease.lease, fault="platform", code="worker_fault", reason="Lost.")
    arena.queue.fail("arena-worker", run, fault)
    ended = arena.ledger.state.runs[run]
    first, last = ended.events[0], ended.events[-1]
    spent = spending(arena.ledger.state, arena.challenges.challenges["demo"])
    assert spent.used * 3600 == pytest.approx((last.at - first.at).total_seconds())
    assert spent.reserved == 0


def test_what_a_lost_worker_took_is_used_and_the_rest_still_reserved(
    arena: Arena, who: Who, valid: str
) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    challenge = arena.challenges.challenges["demo"]
    for attempt in (1, 2):
        lease = leased(arena).lease
        lost = Failure(lease=lease, fault="platform", code=WORKER_STOPPED, reason="Stopped.")
        arena.queue.fail("arena-worker", run, lost)
        events = arena.ledger.state.runs[run].events
        took = [
            (b.at - a.at).total_seconds() for a, b in zip(events[::2], events[1::2], strict=True)
        ]
        spent = spending(arena.ledger.state, challenge)
        assert len(took) == attempt
        assert spent.used * 3600 == pytest.approx(sum(took))
        assert spent.reserved == (spent.each if attempt == 1 else 0)


def test_api_and_command_line_say_the_same(
    arena: Arena, fronts: Fronts, who: Who, valid: str
) -> None:
    body = {"submission": valid, "challenge": "demo"}
    asked = ("author", "run", "preflight", valid, "--challenge", "demo")
    answer = fronts.api("author", "POST", "/runs:preflight", body).json()
    assert fronts.cli(*asked)[:2] == (0, answer)
    arena.launch(who("author"), valid, "demo")
    code, told, _ = fronts.cli(*asked)
    assert (code, told["ok"], told["error"]["code"]) == (1, False, "run_under_way")
