"""Nothing acknowledged is lost; nothing that failed is acknowledged: against a real hub."""

import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from huggingface_hub import CommitOperationAdd, HfApi

from arena.budget import CommitBudget
from arena.errors import NotRecorded, OutcomeUnknown, SameState, StoreUnavailable
from arena.hubclient import bound_hub_calls
from arena.ledger import Ledger
from arena.records import AnyRecord, ChallengeStateRecord, Record, new_id
from arena.state import ImpossibleMove, State
from arena.store import Store, StoreNotTaken, StoreUncertain
from arena.storefiles import merged, merges
from tests.hub import RunningHub

COMMIT = "POST .*/commit/"


def paused(reason: str = "r") -> ChallengeStateRecord:
    return ChallengeStateRecord(
        id=new_id("cst"), by="editor", challenge="demo", state="paused", reason=reason
    )


@pytest.fixture
def open_ledger(hub: RunningHub, tmp_path: Path) -> Iterator[Callable[..., Ledger]]:
    """Opens ledgers on one store, each as a process of its own would."""
    repo = f"arena-bot/ledger-{uuid4().hex[:8]}"
    opened: list[Ledger] = []

    def start(
        endpoint: str = hub.url,
        token: str = "hf_arena",
        per_hour: int = 10_000,
        cache: Path | None = None,
        kind: type[Store] = Store,
    ) -> Ledger:
        folder = cache or tmp_path / uuid4().hex
        store = kind(repo, HfApi(endpoint=endpoint, token=token), folder)
        ledger = Ledger(store, CommitBudget(per_hour))
        ledger.open()
        opened.append(ledger)
        return ledger

    yield start
    for ledger in opened:
        ledger.close()


class TogetherApi(HfApi):
    """Clients that look at once whether the store is there, and then go on at once."""

    both = threading.Barrier(2)
    has_looked = False

    def repo_exists(self, *args: Any, **kwargs: Any) -> bool:
        found = super().repo_exists(*args, **kwargs)
        if not self.has_looked:
            self.has_looked = True
            self.both.wait(30)
        return found


def test_two_that_create_the_store_at_once_both_come_up(hub: RunningHub, tmp_path: Path) -> None:
    for number in range(6):
        repo = f"arena-bot/begun-{uuid4().hex[:8]}"
        ledgers = [
            Ledger(
                Store(
                    repo,
                    TogetherApi(endpoint=hub.url, token="hf_arena"),
                    tmp_path / f"{number}{name}",
                ),
                CommitBudget(10_000),
            )
            for name in "ab"
        ]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(Ledger.open, ledgers))
        assert [ledger.trouble for ledger in ledgers] == [None, None]
        for ledger in ledgers:
            ledger.transact(lambda state: [paused(f"after {state.seq}")])
        assert ledgers[1].state.challenge_states["demo"].reason == "after 1"
        for ledger in ledgers:
            ledger.close()


def test_a_card_that_another_declares_meanwhile_is_no_trouble(
    hub: RunningHub, open_ledger: Callable[..., Ledger]
) -> None:
    hub.make_faults({"kind": "refuse", "match": COMMIT, "status": 412})
    ledger = open_ledger()
    assert hub.faults_left() == 0
    assert ledger.trouble is None


def test_records_are_numbered_and_read_back(open_ledger: Callable[..., Ledger]) -> None:
    ledger = open_ledger()
    for number in range(3):
        ledger.transact(lambda state, n=number: [paused(f"{n}a"), paused(f"{n}b")])
    again = open_ledger()
    assert again.state.seq == 6
    assert again.state.challenge_states["demo"].reason == "2b"
    assert again.state == ledger.state


def test_a_decision_that_raises_records_nothing(open_ledger: Callable[..., Ledger]) -> None:
    ledger = open_ledger()
    with pytest.raises(ValueError, match="no"):
        ledger.transact(lambda state: (_ for _ in ()).throw(ValueError("no")))  # type: ignore[arg-type]
    assert open_ledger().state.seq == 0


def test_writers_at_once_each_decide_on_what_is_true(open_ledger: Callable[..., Ledger]) -> None:
    ledgers = [open_ledger() for _ in range(3)]

    def write(ledger: Ledger) -> None:
        for _ in range(5):
            ledger.transact(lambda state: [paused(f"after {state.seq}")])

    threads = [threading.Thread(target=write, args=(ledger,)) for ledger in ledgers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    final = open_ledger().state
    assert final.seq == 15
    assert final.challenge_states["demo"].reason == "after 14"


def test_impossible_records_are_refused_before_they_are_stored(
    open_ledger: Callable[..., Ledger],
) -> None:
    ledger = open_ledger()
    record = paused()
    ledger.transact(lambda state: [record])
    with pytest.raises(ImpossibleMove, match="stands twice"):
        ledger.transact(lambda state: [record])
    assert open_ledger().state.seq == 1


@pytest.mark.parametrize(
    ("fault", "tries"),
    [
        ({"kind": "refuse", "match": COMMIT, "status": 409}, 2),
        ({"kind": "refuse", "match": COMMIT, "status": 412}, 2),
        ({"kind": "refuse", "match": COMMIT, "status": 429, "headers": {"Retry-After": "1"}}, 2),
        ({"kind": "refuse", "match": COMMIT, "status": 500, "times": 2}, 3),
        ({"kind": "refuse", "match": COMMIT, "status": 503}, 2),
        ({"kind": "fail after", "match": COMMIT, "status": 500}, 1),
        ({"kind": "fail after", "match": COMMIT, "status": 504}, 1),
        ({"kind": "cut", "match": COMMIT}, 2),
        ({"kind": "cut after", "match": COMMIT}, 1),
        ({"kind": "cut", "match": "POST .*/preupload/"}, 1),  # the client asks again by itself
    ],
    ids=lambda value: (
        f"{value['kind']} {value.get('status', '')}" if isinstance(value, dict) else ""
    ),
)
def test_a_fault_of_the_hub_neither_loses_nor_doubles(
    hub: RunningHub, open_ledger: Callable[..., Ledger], fault: dict[str, object], tries: int
) -> None:
    decided: list[State] = []

    def decide(state: State) -> list[AnyRecord]:
        decided.append(state)
        return [paused("once")]

    ledger = open_ledger()
    hub.make_faults(fault)
    records = ledger.transact(decide)
    assert hub.faults_left() == 0
    assert [record.seq for record in records] == [1]
    assert len(decided) == tries, "what had landed is not decided again"
    assert open_ledger().state.seq == ledger.state.seq == 1


def test_a_hub_that_hangs_is_not_waited_for_for_ever(
    hub: RunningHub, open_ledger: Callable[..., Ledger]
) -> None:
    ledger = open_ledger()
    bound_hub_calls(httpx.Timeout(0.5))
    try:
        hub.make_faults({"kind": "hang", "match": COMMIT, "seconds": 3})
        ledger.transact(lambda state: [paused("late")])
    finally:
        bound_hub_calls()
    time.sleep(3)  # what hung is done by now, on a parent that has gone by
    assert open_ledger().state.seq == 1


class LateStore(Store):
    """A store whose first commit gets no answer, and lands when `land` is called."""

    late: tuple[Sequence[Record], str] | None = None
    land_before_the_next = True

    def append(self, records: Sequence[Record], parent: str) -> str:
        if self.late is None:
            self.late = (records, parent)
            raise StoreUncertain("ReadTimeout", may_land_yet=True)
        if self.land_before_the_next:
            self.land()
        return super().append(records, parent)

    def land(self) -> None:
        assert self.late
        self.land_before_the_next = False
        Store(self.repo, self._api, self._blobs._folder / "late").append(*self.late)


def test_a_commit_that_lands_after_the_next_was_sent_is_recorded_once(
    open_ledger: Callable[..., Ledger],
) -> None:
    ledger = open_ledger(kind=LateStore)
    decided: list[AnyRecord] = []

    def decide(state: State) -> list[AnyRecord]:
        decided.append(paused(f"after {state.seq}"))
        return [decided[-1]]

    records = ledger.transact(decide)
    assert [record.id for record in records] == [decided[0].id], "the one that landed answers"
    assert open_ledger().state.seq == ledger.state.seq == 1


def test_a_commit_that_lands_while_it_is_decided_again_is_no_refusal(
    open_ledger: Callable[..., Ledger],
) -> None:
    """A refusal is by what is true now; that may be one's own record."""
    ledger = open_ledger(kind=LateStore)
    store = ledger._store
    assert isinstance(store, LateStore)
    decided: list[AnyRecord] = []

    def decide(state: State) -> list[AnyRecord]:
        if decided and store.land_before_the_next:
            store.land()
            raise SameState(challenge="demo", state="paused", reason="somebody else's")
        if "demo" in state.challenge_states:
            raise SameState(challenge="demo", state="paused", reason="its own")
        decided.append(paused("once"))
        return [decided[-1]]

    assert [record.id for record in ledger.transact(decide)] == [decided[0].id]
    assert open_ledger().state.seq == 1


def test_what_may_land_yet_is_not_told_as_not_recorded(
    hub: RunningHub, open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ledger.ATTEMPTS", 1)
    ledger = open_ledger(kind=LateStore)
    with pytest.raises(OutcomeUnknown):
        ledger.transact(lambda state: [paused("late")])
    ledger.transact(lambda state: [])
    store = ledger._store
    assert isinstance(store, LateStore)
    store.land()
    monkeypatch.undo()
    ledger.transact(lambda state: [paused(f"after {state.seq}")])
    assert open_ledger().state.challenge_states["demo"].reason == "after 1"


def test_a_store_that_keeps_failing_says_not_recorded(
    hub: RunningHub, open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ledger.ATTEMPTS", 3)
    ledger = open_ledger()
    hub.make_faults({"kind": "refuse", "match": COMMIT, "status": 500, "times": 3})
    with pytest.raises(NotRecorded, match="500"):
        ledger.transact(lambda state: [paused()])
    assert ledger.state.seq == open_ledger().state.seq == 0
    ledger.transact(lambda state: [paused()])
    assert open_ledger().state.seq == 1


def test_silence_after_the_commit_is_no_not_recorded(
    hub: RunningHub, open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may stand, so nobody is told that it does not."""
    monkeypatch.setattr("arena.ledger.ATTEMPTS", 2)
    ledger = open_ledger()
    silence = {"kind": "refuse", "match": "GET /api/datasets/", "status": 503, "times": 2}
    hub.make_faults({"kind": "cut after", "match": COMMIT}, silence)
    with pytest.raises(OutcomeUnknown):
        ledger.transact(lambda state: [paused("there")])
    ledger.transact(lambda state: [paused(f"after {state.seq}")])
    assert ledger.state.challenge_states["demo"].reason == "after 1"
    assert open_ledger().state.seq == 2


def test_who_gives_up_amid_a_commit_is_not_told_that_nothing_was_recorded(
    open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ledger.PATIENCE", 0.3)
    ledger = open_ledger()

    def decide(state: State) -> list[AnyRecord]:
        time.sleep(1)
        return [paused("late")]

    with pytest.raises(OutcomeUnknown):
        ledger.transact(decide)
    ledger.close()
    assert open_ledger().state.seq == 1


def test_a_refused_write_closes_the_ledger_until_it_may_write_again(
    hub: RunningHub, open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ledger.POLL_SECONDS", 0.3)
    ledger = open_ledger()
    hub.make_faults({"kind": "refuse", "match": COMMIT, "status": 403})
    with pytest.raises(NotRecorded, match="403"):
        ledger.transact(lambda state: [paused()])
    assert ledger.state.seq == 0
    deadline = time.monotonic() + 30
    while ledger.trouble and time.monotonic() < deadline:
        time.sleep(0.1)
    ledger.transact(lambda state: [paused()])
    assert open_ledger().state.seq == 1


def test_a_head_that_lags_behind_is_ignored(
    hub: RunningHub, open_ledger: Callable[..., Ledger]
) -> None:
    ledger, other = open_ledger(), open_ledger()
    old, _ = ledger.head
    ledger.transact(lambda state: [paused("first")])
    other.transact(lambda state: [paused("elsewhere")])
    address = f"/api/datasets/{ledger._store.repo}"
    lag = {"kind": "rewrite", "match": f"GET {address}$", "path": f"{address}/revision/{old}"}
    hub.make_faults({**lag, "times": 2})
    ledger.transact(lambda state: [paused(f"after {state.seq}")])
    assert hub.faults_left() == 0
    assert open_ledger().state.challenge_states["demo"].reason == "after 2"


def test_waiting_transactions_share_a_commit_each_on_those_before_it(
    hub: RunningHub, open_ledger: Callable[..., Ledger]
) -> None:
    ledger = open_ledger()

    def write(number: int) -> int:
        records = ledger.transact(lambda state: [paused(f"{number} after {state.seq}")])
        return records[0].seq

    api, repo = hub.api("arena"), ledger._store.repo
    before = len(api.list_repo_commits(repo, repo_type="dataset"))
    with ThreadPoolExecutor(40) as pool:
        seqs = sorted(pool.map(write, range(120)))
    assert seqs == list(range(1, 121))
    assert len(api.list_repo_commits(repo, repo_type="dataset")) - before < 40
    final = open_ledger().state
    assert final.challenge_states["demo"].reason.endswith(" after 119")


def test_one_refusal_takes_nobody_else_down(open_ledger: Callable[..., Ledger]) -> None:
    ledger = open_ledger(per_hour=10_000)
    twice = paused("twice")

    def write(number: int) -> str:
        try:
            record = twice if number % 3 == 0 else paused(str(number))
            ledger.transact(lambda state: [record] if number % 3 != 1 else refuse())
        except (ImpossibleMove, SameState) as exc:
            return type(exc).__name__
        return "recorded"

    def refuse() -> list[AnyRecord]:
        raise SameState(challenge="demo", state="paused", reason="so")

    with ThreadPoolExecutor(30) as pool:
        outcomes = list(pool.map(write, range(30)))
    assert outcomes.count("recorded") == 11
    assert outcomes.count("SameState") == 10
    assert outcomes.count("ImpossibleMove") == 9
    assert open_ledger().state.seq == 11


def test_an_empty_budget_makes_writers_wait_and_says_so(
    open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ledger.PATIENCE", 0.5)
    ledger = open_ledger(per_hour=6)  # three at once; opening has spent one or two
    due = r"the next commit is due in \d+ s, at \d\d:\d\d:\d\d UTC"
    while not ledger.outlook().seconds:
        ledger.transact(lambda state: [paused()])
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ledger.transact, lambda state: [paused()])
        time.sleep(0.2)
        assert re.fullmatch(f"1 write waits to be recorded; {due}", ledger.outlook().text)
        with pytest.raises(NotRecorded, match=due):
            waiting.result()
    assert ledger.outlook().waiting == 0
    seq = ledger.state.seq
    time.sleep(0.3)
    assert open_ledger().state.seq == seq, "what was given up is not recorded later"


def test_a_restart_does_not_give_the_budget_anew(open_ledger: Callable[..., Ledger]) -> None:
    ledger = open_ledger()
    for _ in range(5):
        ledger.transact(lambda state: [paused()])
    assert open_ledger(per_hour=8).outlook().seconds > 60
    assert open_ledger(per_hour=1000).outlook().seconds == 0


def test_reopening_counts_no_commit_twice(
    hub: RunningHub, open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ledger.POLL_SECONDS", 0.2)
    ledger = open_ledger(per_hour=60)
    for _ in range(12):
        ledger.transact(lambda state: [paused()])
    hub.make_faults({"kind": "refuse", "match": COMMIT, "status": 403})
    with pytest.raises(NotRecorded):
        ledger.transact(lambda state: [paused()])
    deadline = time.monotonic() + 20
    while ledger.trouble and time.monotonic() < deadline:
        time.sleep(0.05)
    assert ledger.outlook().seconds == 0
    ledger.transact(lambda state: [paused()])


def test_a_closed_store_is_looked_at_in_its_time_only(
    hub: RunningHub, open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits in the queue must not make the ledger ask without a pause."""
    monkeypatch.setattr("arena.ledger.POLL_SECONDS", 0.5)
    monkeypatch.setattr("arena.ledger.PATIENCE", 1.5)
    ledger = open_ledger()
    hub.make_faults(
        {"kind": "hang", "match": COMMIT, "seconds": 0.5},
        {"kind": "refuse", "match": "/api/whoami-v2", "status": 401, "times": 1000},
        {"kind": "refuse", "match": COMMIT, "status": 403, "times": 1000},
    )
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(ledger.transact, lambda state: [paused()])]
        time.sleep(0.2)  # the first hangs; these wait behind it
        waiting += [pool.submit(ledger.transact, lambda state: [paused()]) for _ in range(3)]
        for future in waiting:
            assert future.exception() is None or isinstance(future.exception(), NotRecorded)
    left = httpx.get(f"{hub.url}/admin/faults").json()
    hub.make_faults()
    asked = 1000 - next(fault["times"] for fault in left if "whoami" in fault["match"])
    assert asked < 12


def test_the_budget_holds_in_any_hour_and_never_stops() -> None:
    now = [1_000_000.0]
    budget = CommitBudget(60, lambda: now[0])
    made: list[float] = []
    while now[0] < 1_000_000 + 4 * 3600:
        wait = budget.delay()
        assert wait <= 120
        now[0] += wait
        budget.note()
        made.append(now[0])
        now[0] += 0.5
    busiest = max(sum(at <= other < at + 3600 for other in made) for at in made)
    assert 55 <= busiest <= 59, "and one for compaction"
    assert min(after - before for before, after in pairwise(made)) >= 1.99, "they share commits"
    budget.begin_with([now[0] - 5.0] * 100)
    assert 0 < budget.delay() <= 120, "what others overspent is not worked off for hours"


# Reading


def test_a_second_process_sees_what_the_first_wrote(
    open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ledger.POLL_SECONDS", 0.2)
    first, second = open_ledger(), open_ledger()
    first.transact(lambda state: [paused("seen")])
    deadline = time.monotonic() + 20
    while second.state.seq == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert second.state.challenge_states["demo"].reason == "seen"


def test_an_unreachable_store_is_read_from_what_is_kept_and_opens_by_itself(
    hub: RunningHub,
    open_ledger: Callable[..., Ledger],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena.ledger.POLL_SECONDS", 0.3)
    first = open_ledger(cache=tmp_path / "kept")
    first.transact(lambda state: [paused("kept")])
    first.close()
    hub.make_faults({"kind": "refuse", "match": "/datasets/", "status": 503, "times": 5})
    ledger, empty = open_ledger(cache=tmp_path / "kept"), open_ledger()
    assert ledger.state.challenge_states["demo"].reason == "kept"
    for closed in (ledger, empty):
        assert closed.trouble
        with pytest.raises(NotRecorded, match="cannot be reached"):
            closed.transact(lambda state: [paused()])
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        _ = empty.state
    deadline = time.monotonic() + 20
    while (ledger.trouble or empty.trouble) and time.monotonic() < deadline:
        time.sleep(0.1)
    ledger.transact(lambda state: [paused(f"after {state.seq}")])
    assert ledger.state.challenge_states["demo"].reason == "after 1"


def test_a_cache_that_takes_nothing_fails_no_write(
    open_ledger: Callable[..., Ledger], tmp_path: Path
) -> None:
    ledger = open_ledger(cache=tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    records = ledger.transact(lambda state: [paused("landed")])
    assert [record.seq for record in records] == [1]
    assert open_ledger().state.challenge_states["demo"].reason == "landed"


def test_a_token_that_may_only_read_opens_read_only(open_ledger: Callable[..., Ledger]) -> None:
    open_ledger().transact(lambda state: [paused("there")])
    reader = open_ledger(token="hf_rival")
    assert reader.state.seq == 1
    with pytest.raises(NotRecorded):
        reader.transact(lambda state: [paused()])
    assert reader.trouble
    assert open_ledger().state.seq == 1


def test_what_cannot_be_read_is_set_aside_and_the_rest_goes_on(
    hub: RunningHub, open_ledger: Callable[..., Ledger]
) -> None:
    ledger = open_ledger()
    for number in range(3):
        ledger.transact(lambda state, n=number: [paused(f"{n}")])
    repo, api = ledger._store.repo, hub.api("arena")
    path = "data/challenge_state/000000002.jsonl"
    newer = b'{"seq":4,"id":"x_1","kind":"challenge_state","at":"2030-01-01T00:00:00Z",'
    newer += b'"by":"e","schema":9,"mood":"new"}\n'
    stranger = newer.replace(
        b'"seq":4,"id":"x_1","kind":"challenge_state"', b'"seq":5,"id":"y_1","kind":"dream"'
    )
    orphan = b'{"seq":6,"id":"rev_1","kind":"review","at":"2030-01-01T00:00:00Z","by":"e",'
    orphan += b'"schema":1,"request":null,"run":"run_none","verdict":"accepted","reason":"r"}\n'
    files = {
        path: b'{"seq":2,"id":"cst_\xff broken\n',
        "data/challenge_state/000000004.jsonl": newer,
        "data/dream/000000005.jsonl": stranger,
        "data/review/000000006.jsonl": orphan,
    }
    operations = [CommitOperationAdd(name, content) for name, content in files.items()]
    api.create_commit(repo, operations, commit_message="Damage", repo_type="dataset")
    again = open_ledger()
    assert again.state.challenge_states["demo"].reason == "2"
    assert again.state.seq == 6
    problems = {unreadable.path for unreadable in again.unreadable}
    assert problems == {path, "record rev_1"}
    again.transact(lambda state: [paused(f"after {state.seq}")])
    assert open_ledger().state.seq == 7
    compacted(again)
    last = open_ledger()
    assert last.state.seq == 7
    assert {"x_1", "y_1"} <= last.state.ids, "kept, though this code cannot read them"
    assert len(last.unreadable) == 2, "compaction carries what is corrupt along"


# Compaction


def compacted(ledger: Ledger) -> None:
    ledger._compact()


def test_compaction_loses_nothing_and_reads_the_same(
    hub: RunningHub, open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ledger.COMPACT_AT", 12)
    ledger, beside = open_ledger(), open_ledger()
    for number in range(30):
        ledger.transact(lambda state, n=number: [paused(f"{n}")])
    assert ledger._store.files < 12
    names = hub.api("arena").list_repo_files(ledger._store.repo, repo_type="dataset")
    assert any(re.fullmatch(r"data/challenge_state/\d{4}-\d\d\.jsonl", name) for name in names)
    beside.transact(lambda state: [paused(f"after {state.seq}")])
    again = open_ledger()
    assert again.state == beside.state
    assert again.state.seq == 31
    assert again.unreadable == beside.unreadable == []


def test_an_upload_that_xet_refuses_is_told_as_the_hubs(
    open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client's Xet raises errors of no class of its own; the local hub speaks no Xet."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False)
    store = open_ledger()._store
    large = CommitOperationAdd("data/large.jsonl", b"{}\n" * 4_000_000)
    with pytest.raises(StoreNotTaken):
        store._commit([large], "too large for a regular file", store._head)


def test_compaction_beside_a_writer_gives_way(open_ledger: Callable[..., Ledger]) -> None:
    ledger, beside = open_ledger(), open_ledger()
    for number in range(4):
        ledger.transact(lambda state, n=number: [paused(f"{n}")])
    beside.transact(lambda state: [paused("beside")])
    compacted(ledger)  # on a head that has gone by: nothing happens
    assert open_ledger().state.seq == 5
    compacted(ledger)
    beside.transact(lambda state: [paused(f"after {state.seq}")])
    assert open_ledger().state.seq == 6


def test_months_of_a_past_year_become_one_file() -> None:
    line = '{"seq":%d,"id":"a","at":"%s-01T00:00:00Z"}\n'
    contents = {
        "data/run/000000003.jsonl": (line % (3, "2025-12")).encode(),
        "data/run/000000004.jsonl": (line % (4, "2026-01")).encode(),
        "data/run/000000005.jsonl": (line % (5, "2026-01")).encode(),
    }
    paths = [*contents, "data/run/2025-11.jsonl", "data/run/2024.jsonl", "data/run/2026-02.jsonl"]
    assert merges(paths, contents, "2026") == {
        "data/run/2025.jsonl": ["data/run/000000003.jsonl", "data/run/2025-11.jsonl"],
        "data/run/2026-01.jsonl": ["data/run/000000004.jsonl", "data/run/000000005.jsonl"],
    }
    assert merged([b'{"seq":3,\n', b'{"seq":1,\n??\n']) == b'{"seq":1,\n??\n{"seq":3,\n'
