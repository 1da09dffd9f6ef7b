"""Two arenas on one store, as where a Space starts beside its old self."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import monotonic, sleep

import pytest

from arena import ledger
from arena.errors import ArenaError
from arena.identity import Identity
from arena.runs.messages import Beat, Lease
from arena.service import Arena
from tests.service.conftest import limit, refusal, settled, wait_for
from tests.service.scripted import arms, leased, ready, report

Who = Callable[[str], Identity]
Collection = Callable[..., str]
LEASE = 1.0  # seconds


@pytest.fixture
def pair(start_arena: Callable[..., Arena], monkeypatch: pytest.MonkeyPatch) -> tuple[Arena, Arena]:
    """An old and a new arena; they read the store as often, to a lease's time, as real ones do."""
    monkeypatch.setattr(ledger, "POLL_SECONDS", LEASE / 6)
    return start_arena(lease_seconds=LEASE), start_arena(lease_seconds=LEASE)


@pytest.fixture
def entered(pair: tuple[Arena, Arena], who: Who, collection: Collection) -> str:
    """A valid submission that both know."""
    old, new = pair
    submission = old.submit(who("author"), collection(), "T").id
    settled(old, submission)
    wait_for(lambda: submission in new.ledger.state.submissions)
    settled(new, submission)
    return submission


def launched(arena: Arena, who: Who, submission: str) -> tuple[str, Lease]:
    run = arena.launch(who("author"), submission, "demo").id
    return run, leased(arena)


def beat_for(arena: Arena, run: str, lease: Lease, seconds: float) -> None:
    """A worker at work that speaks to one process alone."""
    end = monotonic() + seconds
    while monotonic() < end:
        arena.queue.beat("arena-worker", run, Beat(lease=lease.lease, stage="gate"))
        sleep(LEASE / 4)


def finish(arena: Arena, run: str, lease: Lease) -> None:
    record = arena.ledger.state.runs[run].record
    content = json.dumps(report(record, *arms(0, 1))).encode()
    arena.queue.report("arena-worker", run, lease.lease, content)


def events(arena: Arena, run: str) -> list[str]:
    return [event.event for event in arena.ledger.state.runs[run].events]


def test_a_worker_that_one_process_hears_ends_its_run(
    pair: tuple[Arena, Arena], who: Who, entered: str
) -> None:
    old, _ = pair
    run, lease = launched(old, who, entered)
    beat_for(old, run, lease, 8 * LEASE)
    assert events(old, run)[:3] == ["leased", "doubted", "heard"], "the other asked"
    finish(old, run, lease)
    assert old.read.run_detail(run).state == "scored"


def test_a_worker_that_goes_over_to_the_new_process_ends_its_run(
    pair: tuple[Arena, Arena], who: Who, entered: str
) -> None:
    old, new = pair
    run, lease = launched(old, who, entered)
    wait_for(lambda: run in new.ledger.state.runs and new.ledger.state.runs[run].lease)
    beat_for(new, run, lease, 8 * LEASE)
    assert "heard" in events(new, run)
    finish(new, run, lease)
    wait_for(lambda: old.read.run_detail(run).state == "scored")


def test_a_process_that_has_not_read_a_lease_asks_the_store_before_it_knows_no_run(
    start_arena: Callable[..., Arena],
    who: Who,
    collection: Collection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ledger, "POLL_SECONDS", 600.0)
    old, new = start_arena(), start_arena()
    submission = old.submit(who("author"), collection(), "T").id
    settled(old, submission)
    run, lease = launched(old, who, submission)
    assert run not in new.ledger.state.runs
    new.queue.beat("arena-worker", run, Beat(lease=lease.lease, stage="gate"))
    assert new.queue.live(run)
    finish(new, run, lease)
    assert new.read.run_detail(run).state == "scored"


def test_a_limit_that_another_process_has_refunded_refuses_nobody(
    arena: Arena,
    start_arena: Callable[..., Arena],
    who: Who,
    collection: Collection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ledger, "POLL_SECONDS", 600.0)
    new, author, may_fail = start_arena(), who("author"), Event()
    new._validator.close()  # the old one validates
    for each in (arena, new):
        limit(each, validations_per_author_per_hour=1)

    def fail() -> None:
        may_fail.wait(30)
        raise RuntimeError("a fault of the arena's own")

    monkeypatch.setattr(arena.suites, "all", fail)
    lost = arena.submit(author, collection(), "T").id
    assert refusal(lambda: new.submit(author, collection(), "T")) == "limit_reached"
    assert refusal(lambda: new.validate(author, collection())) == "limit_reached"
    may_fail.set()
    assert settled(arena, lost).state == "failed"
    assert new.ledger.state.submissions[lost].validation is None, "it has not read so far"
    assert new.submit(author, collection(), "T")


def test_who_asks_one_process_of_what_another_recorded_is_answered(
    arena: Arena,
    start_arena: Callable[..., Arena],
    who: Who,
    collection: Collection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ledger, "POLL_SECONDS", 600.0)
    new = start_arena()
    later = arena.submit(who("author"), collection(), "T").id
    settled(arena, later)
    assert new.preflight(who("author"), later, "demo").submission == later
    another = arena.submit(who("author"), collection(), "T").id
    assert new.suspects(who("editor"), another)


def test_a_worker_that_died_with_the_old_process_is_found_out(
    pair: tuple[Arena, Arena], who: Who, entered: str
) -> None:
    old, new = pair
    run, _ = launched(old, who, entered)
    wait_for(lambda: run in new.ledger.state.runs and new.ledger.state.runs[run].lease)
    old.close()
    wait_for(lambda: new.read.run_detail(run).state == "queued")
    requeued = new.read.run_detail(run).requeued
    assert requeued
    assert requeued.code == "worker_lost"
    assert events(new, run) == ["leased", "doubted", "requeued"]


def test_a_worker_that_nobody_hears_loses_its_run_once(
    pair: tuple[Arena, Arena], who: Who, entered: str
) -> None:
    old, new = pair
    run, _ = launched(old, who, entered)
    for arena in (old, new):
        wait_for(lambda: run in arena.ledger.state.runs)  # noqa: B023
        wait_for(lambda: arena.ledger.state.runs[run].state == "queued")  # noqa: B023
    assert events(new, run) == ["leased", "doubted", "requeued"]
    leased(new)
    for arena in (old, new):
        wait_for(lambda: arena.read.run_detail(run).state == "failed")  # noqa: B023
    assert events(new, run)[3:] == ["leased", "doubted", "failed"]


def test_runs_are_leased_once_and_reviewed_once(
    pair: tuple[Arena, Arena], who: Who, collection: Collection
) -> None:
    old, new = pair
    author, count = who("author"), 4
    submissions = [old.submit(author, collection(), f"T{n}").id for n in range(count)]
    for submission in submissions:
        settled(old, submission)
        old.launch(author, submission, "demo")
    wait_for(lambda: len(new.ledger.state.queue()) == count)
    with ThreadPoolExecutor(2 * count) as pool:
        asked = [pool.submit(a.queue.lease, "arena-worker", ready()) for a in pair * count]
        leases = [lease for future in asked if (lease := future.result())]
    assert len(leases) == count
    assert {lease.run for lease in leases} == set(old.ledger.state.runs)
    run = leases[0]
    finish(old, run.run, run)

    def accept(arena: Arena) -> str:
        try:
            arena.review(who("editor"), run.run, "accepted", "Fine.")
        except ArenaError as exc:
            return exc.code
        return "accepted"

    wait_for(lambda: new.read.run_detail(run.run).state == "scored")
    with ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(accept, pair))
    assert sorted(verdicts) == ["accepted", "already_reviewed"]


def test_what_both_acknowledge_is_there_once_and_validated_once(
    pair: tuple[Arena, Arena], who: Who, collection: Collection, start_arena: Callable[..., Arena]
) -> None:
    sources = [collection() for _ in range(6)]
    author = who("author")

    def enter(number: int) -> str:
        try:
            return pair[number % 2].submit(author, sources[number // 2], f"T{number}").id
        except ArenaError as exc:
            return exc.code

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(enter, range(12)))
    acknowledged = [answer for answer in answers if answer.startswith("sub_")]
    assert len(acknowledged) == 6, "each source once, whichever process was first"
    assert set(answers) - set(acknowledged) == {"already_submitted"}
    fresh = start_arena()
    assert set(fresh.ledger.state.submissions) == set(acknowledged)
    for submission in acknowledged:
        assert settled(fresh, submission).state == "valid"
    assert fresh.ledger.unreadable == []  # no second validation of any
