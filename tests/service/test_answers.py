"""An answer, also a refusal, rests on what stands in the store and was read after the question."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from uuid import uuid4

import pytest
from huggingface_hub import HfApi

from arena.budget import CommitBudget
from arena.errors import NotRecorded, SameState
from arena.ledger import Ledger
from arena.records import AnyRecord, ChallengeStateRecord, Record, new_id
from arena.state import State
from arena.store import Reading, Store, StoreNotTaken, StoreUnread
from tests.hub import RunningHub

Answer = Future[list[AnyRecord]]


class HeldStore(Store):
    """A store whose first commit waits for `go_on`; those after it fail while `fails` is set."""

    commits = 0
    looks = 0
    fails = False
    is_unread = False

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.begun, self.go_on = threading.Event(), threading.Event()

    def append(self, records: Sequence[Record], parent: str) -> str:
        self.commits += 1
        self.begun.set()
        assert self.go_on.wait(30)
        if self.fails and self.commits > 1:
            raise StoreNotTaken("status 503")
        return super().append(records, parent)

    def read_new(self, after: int) -> Reading | None:
        self.looks += 1
        if self.is_unread:
            raise StoreUnread("status 503")
        return super().read_new(after)


class SpentBudget(CommitBudget):
    """A budget from which no commit comes while `is_spent` is set."""

    is_spent = False

    def delay(self) -> float:
        return 3600.0 if self.is_spent else super().delay()


@pytest.fixture
def budget() -> SpentBudget:
    return SpentBudget(10_000)


@pytest.fixture
def start(
    hub: RunningHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: SpentBudget
) -> Iterator[Callable[[], tuple[Ledger, HeldStore]]]:
    """Opens ledgers on one store, which read it only when they have to."""
    monkeypatch.setattr("arena.ledger.POLL_SECONDS", 3600.0)
    repo, opened = f"arena-bot/answers-{uuid4().hex[:8]}", list[Ledger]()

    def start() -> tuple[Ledger, HeldStore]:
        api = HfApi(endpoint=hub.url, token="hf_arena")
        store = HeldStore(repo, api, tmp_path / uuid4().hex)
        ledger = Ledger(store, budget)
        ledger.open()
        opened.append(ledger)
        return ledger, store

    yield start
    budget.is_spent = False
    for ledger in opened:
        ledger.close()


def paused() -> ChallengeStateRecord:
    return ChallengeStateRecord(
        id=new_id("cst"), by="editor", challenge="demo", state="paused", reason="r"
    )


def pause_once(state: State) -> list[AnyRecord]:
    """A write under a key: nothing more where it is recorded."""
    return [] if "demo" in state.challenge_states else [paused()]


def pause_unless_paused(state: State) -> list[AnyRecord]:
    if "demo" in state.challenge_states:
        raise SameState(challenge="demo", state="paused", reason="r")
    return [paused()]


def unless_open(state: State) -> list[AnyRecord]:
    if "demo" not in state.challenge_states:
        raise SameState(challenge="demo", state="open", reason="r")
    return []


def in_one_commit(
    ledger: Ledger, store: HeldStore, *decisions: Callable[[State], list[AnyRecord]]
) -> list[Answer]:
    """What is decided together, since a commit before it is held until all wait."""
    other = paused().model_copy(update={"challenge": "other"})
    first = ledger.enqueue(lambda state: [other])
    assert store.begun.wait(30)
    answers = [ledger.enqueue(decide) for decide in decisions]
    store.go_on.set()
    first.result(30)
    return answers


def test_who_rests_on_a_record_of_the_same_commit_is_answered_when_it_stands(
    start: Callable[[], tuple[Ledger, HeldStore]],
) -> None:
    ledger, store = start()
    seen: list[int] = []
    answers = in_one_commit(ledger, store, pause_once, pause_once, pause_unless_paused)
    for answer in answers:
        answer.add_done_callback(lambda _: seen.append(ledger.state.seq))
    assert [len(answer.result(30)) for answer in answers[:2]] == [1, 0]
    assert isinstance(answers[2].exception(30), SameState)
    assert set(seen) == {2}, "the state holds what the answers name"
    assert store.commits == 2


def test_who_rests_on_a_record_that_never_lands_is_decided_without_it(
    start: Callable[[], tuple[Ledger, HeldStore]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ledger.ATTEMPTS", 2)
    ledger, store = start()
    store.fails = True
    answers = in_one_commit(
        ledger, store, pause_once, pause_once, pause_unless_paused, unless_open, lambda state: []
    )
    for answer in answers[:3]:
        assert isinstance(answer.exception(30), NotRecorded)
    assert isinstance(answers[3].exception(30), SameState), "it is open: the pause never landed"
    assert answers[4].result(30) == []
    assert ledger.state.seq == 1


def test_nobody_is_refused_by_a_state_older_than_the_question(
    start: Callable[[], tuple[Ledger, HeldStore]],
) -> None:
    (first, store), (second, behind) = start(), start()
    store.go_on.set()
    first.transact(pause_once)
    assert second.state.seq == 0
    assert second.transact(unless_open) == []
    assert behind.commits == 0


def test_refusals_that_wait_share_a_look_at_the_store(
    start: Callable[[], tuple[Ledger, HeldStore]],
) -> None:
    ledger, store = start()
    answers = in_one_commit(ledger, store, *[unless_open] * 20)
    assert all(isinstance(answer.exception(30), SameState) for answer in answers)
    assert store.looks <= 3, "one to open; those that came before a look all go by it"


def test_nobody_is_refused_while_the_store_cannot_be_read(
    start: Callable[[], tuple[Ledger, HeldStore]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ledger.ATTEMPTS", 2)
    ledger, store = start()
    store.is_unread = True
    with pytest.raises(NotRecorded, match="503"):
        ledger.transact(unless_open)


def test_who_needs_no_commit_waits_for_none(
    start: Callable[[], tuple[Ledger, HeldStore]], budget: SpentBudget
) -> None:
    ledger, store = start()
    store.go_on.set()
    ledger.transact(pause_once)
    budget.is_spent = True
    written = ledger.enqueue(lambda state: [paused()])
    assert ledger.enqueue(pause_once).result(30) == []
    assert isinstance(ledger.enqueue(pause_unless_paused).exception(30), SameState)
    assert not written.done()
    assert ledger.outlook().waiting == 1
    assert store.commits == 1


def test_who_rests_on_a_record_that_waits_waits_with_it(
    start: Callable[[], tuple[Ledger, HeldStore]], budget: SpentBudget
) -> None:
    ledger, store = start()
    store.go_on.set()
    budget.is_spent = True
    waiting = [ledger.enqueue(pause_once), ledger.enqueue(pause_unless_paused)]
    assert isinstance(ledger.enqueue(unless_open).exception(30), SameState)
    assert not any(answer.done() for answer in waiting)
    assert ledger.outlook().waiting == 2
    budget.is_spent = False
    ledger.transact(lambda state: [])
    assert len(waiting[0].result(30)) == 1
    assert isinstance(waiting[1].exception(30), SameState)


def test_a_refusal_that_no_look_confirms_comes_with_the_next_commit(
    start: Callable[[], tuple[Ledger, HeldStore]], budget: SpentBudget
) -> None:
    ledger, store = start()
    store.go_on.set()
    budget.is_spent = store.is_unread = True
    refused = ledger.enqueue(unless_open)
    written = ledger.enqueue(pause_once)
    assert ledger.enqueue(lambda state: []).result(30) == []
    assert not refused.done()
    looks = store.looks
    budget.is_spent = False
    assert ledger.transact(lambda state: []) == []
    assert isinstance(refused.exception(30), SameState)
    assert len(written.result(30)) == 1
    assert store.looks == looks, "a commit that lands shows as much"


def test_what_is_required_is_refused_by_what_was_read_since(
    start: Callable[[], tuple[Ledger, HeldStore]],
) -> None:
    (first, store), (second, behind) = start(), start()
    store.go_on.set()
    first.transact(pause_once)
    second.require(unless_open)
    assert second.state.seq == 1
    looks = behind.looks
    second.require(unless_open)
    assert behind.looks == looks, "what is allowed costs no look"
    with pytest.raises(SameState):
        second.require(pause_unless_paused)
    assert behind.commits == 0
