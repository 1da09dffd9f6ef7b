"""Withdrawing: history stays, nothing of it runs or ranks, what was released stays released."""

from collections.abc import Callable

import pytest

from arena.identity import Identity
from arena.runs.messages import Beat
from arena.service import Arena
from tests.collections import upload, write_collection
from tests.hub import RunningHub
from tests.service.conftest import refusal, settled, wait_for
from tests.service.scripted import leased, ready, ready_to_replay, scored

Who = Callable[[str], Identity]
Collection = Callable[..., str]


def test_only_its_author_withdraws_with_a_reason_and_once(
    arena: Arena, who: Who, valid: str
) -> None:
    withdraw = lambda account, why="Wrong.": arena.withdraw(who(account), valid, why)  # noqa: E731
    assert refusal(lambda: withdraw("rival")) == "not_yours"
    assert refusal(lambda: withdraw("editor")) == "not_yours"
    assert refusal(lambda: withdraw("author", " ")) == "reason_required"
    found = withdraw("author")
    assert found.withdrawal is not None
    assert (found.state, found.withdrawal.by, found.withdrawal.reason) == (
        "withdrawn",
        "author",
        "Wrong.",
    )
    assert (found.packages, len(found.stages)) == (4, 3), "history stays"
    assert refusal(lambda: withdraw("author")) == "withdrawn"
    assert refusal(lambda: arena.withdraw(who("author"), "sub_x", "x")) == "unknown_submission"


def test_a_member_withdraws_too(arena: Arena, who: Who, collection: Collection) -> None:
    shared = collection("author", files={"submission.yaml": "members: [rival]\n"})
    submission = arena.submit(who("author"), shared, "Ours").id
    settled(arena, submission)
    assert arena.withdraw(who("rival"), submission, "We agreed.").state == "withdrawn"


@pytest.mark.parametrize("is_leased", [False, True])
def test_its_runs_end_in_the_same_transaction(
    arena: Arena, who: Who, valid: str, is_leased: bool
) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    lease = leased(arena) if is_leased else None
    seq = arena.ledger.state.seq
    arena.withdraw(who("author"), valid, "Wrong.")
    assert arena.ledger.state.seq == seq + 2
    found = arena.read.run_detail(run)
    assert found.failure is not None
    assert (found.state, found.failure.code) == ("cancelled", "withdrawn")
    assert found.failure.counts == is_leased
    assert "Wrong." in found.failure.reason
    assert found.withdrawal is not None
    if lease:
        beat = Beat(lease=lease.lease, stage="gate")
        assert refusal(lambda: arena.queue.beat("arena-worker", run, beat)) == "lease_lost"
    assert arena.queue.lease("arena-worker", ready()) is None
    assert refusal(lambda: arena.launch(who("author"), valid, "demo")) == "not_valid"


def test_no_replay_is_waited_for(arena: Arena, who: Who, valid: str) -> None:
    assert arena.ledger.state.unreplayed()
    arena.withdraw(who("author"), valid, "Wrong.")
    assert arena.replays.lease("arena-worker", ready_to_replay()) is None
    assert arena.read.submission_detail(valid).replay is None


def test_a_validation_under_way_does_not_bring_it_back(
    start_arena: Callable[..., Arena], who: Who, collection: Collection
) -> None:
    first = start_arena()
    first._validator.close()  # its validation has not begun
    submission = first.submit(who("author"), collection(), "T").id
    assert first.withdraw(who("author"), submission, "Too soon.").state == "withdrawn"
    second = start_arena()
    second._validator.enqueue(submission)
    wait_for(lambda: second.ledger.state.submissions[submission].validation)
    assert second.read.submission_detail(submission).state == "withdrawn"
    assert second.ledger.state.unreplayed() == {}
    assert refusal(lambda: second.launch(who("author"), submission, "demo")) == "not_valid"


def test_what_is_invalid_is_not_withdrawn(arena: Arena, who: Who, hub: RunningHub) -> None:
    submission = arena.submit(who("author"), "hf:author/example-collection@main:nowhere", "T").id
    assert settled(arena, submission).state in {"invalid", "failed"}
    assert refusal(lambda: arena.withdraw(who("author"), submission, "x")) == "not_withdrawable"


def test_a_line_ranks_by_what_stands(
    arena: Arena, who: Who, hub: RunningHub, collection: Collection
) -> None:
    old = arena.submit(who("author"), collection(repo="author/a-line"), "Old").id
    settled(arena, old)
    run = arena.launch(who("author"), old, "demo").id
    scored(arena, run)
    arena.review(who("editor"), run, "accepted", "Fine.")
    new = arena.submit(who("author"), collection(repo="author/a-line"), "New").id
    settled(arena, new)
    ranked = lambda: [(r.title, r.rank, r.scored) for r in arena.read.leaderboard("demo")]  # noqa: E731
    assert ranked() == [("New", None, 1)]
    arena.withdraw(who("author"), new, "Worse.")
    assert ranked() == [("Old", 1, 1)]
    wait_for(lambda: arena.read.commons())
    arena.withdraw(who("author"), old, "A licence was wrong.")
    assert ranked() == []
    entry = arena.read.commons()[0]
    assert entry.withdrawal is not None, "what is released stays, and says withdrawn"
    assert entry.withdrawal.reason == "A licence was wrong."


def test_a_withdrawn_result_is_not_accepted_but_may_be_rejected(
    arena: Arena, who: Who, valid: str
) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    scored(arena, run)
    arena.withdraw(who("author"), valid, "Wrong.")
    review = lambda verdict: arena.review(who("editor"), run, verdict, "x")  # noqa: E731
    assert refusal(lambda: review("accepted")) == "withdrawn"
    assert review("rejected").state == "rejected"


def test_its_author_enters_the_same_again_at_its_address_and_nobody_elsewhere(
    arena: Arena, who: Who, hub: RunningHub, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = write_collection(tmp_path_factory.mktemp("c"), 4, "again")
    for account, repo in (("author", "first"), ("author", "moved"), ("rival", "copy")):
        upload(hub.api(account), f"{account}/again-{repo}", folder)
    source = "hf:author/again-first@main"
    first = arena.submit(who("author"), source, "T").id
    settled(arena, first)
    run = arena.launch(who("author"), first, "demo").id
    scored(arena, run)
    arena.withdraw(who("author"), first, "A mistake.")
    for account, repo in (("rival", "copy"), ("author", "moved")):
        elsewhere = arena.submit(who(account), f"hf:{account}/again-{repo}@main", "T").id
        assert settled(arena, elsewhere).code == "duplicate_collection"
    again = arena.submit(who("author"), source, "T").id
    assert settled(arena, again).state == "valid"
    row = arena.read.leaderboard("demo")[0]
    assert (row.submission, row.scored) == (again, 1), "a line's runs stay counted"
