"""Launching, leasing, reporting, reviewing: who may, in which state, and what is recorded."""

import json
from collections.abc import Callable
from datetime import datetime
from time import sleep

import pytest

from arena.challenges import Dates, load_challenges
from arena.cli.runs import describe
from arena.identity import Identity
from arena.runs.launch import outside_dates
from arena.runs.messages import WORKER_STOPPED, Beat, Failure, Lease, StageEnd
from arena.service import Arena
from tests.service.conftest import ROOT, refusal, settled, wait_for
from tests.service.scripted import arms, leased, ready, report, scored

Who = Callable[[str], Identity]


def launch(arena: Arena, who: Who, submission: str) -> str:
    return arena.launch(who("author"), submission, "demo").id


def test_only_the_author_or_an_editor_launches(arena: Arena, who: Who, valid: str) -> None:
    assert refusal(lambda: arena.launch(who("rival"), valid, "demo")) == "not_yours"
    assert arena.launch(who("editor"), valid, "demo").by == "editor"


def test_what_cannot_be_launched(arena: Arena, who: Who, valid: str) -> None:
    author = who("author")
    assert refusal(lambda: arena.launch(author, "sub_nothing", "demo")) == "unknown_submission"
    assert refusal(lambda: arena.launch(author, valid, "nothing")) == "unknown_challenge"
    launch(arena, who, valid)
    assert refusal(lambda: arena.launch(author, valid, "demo")) == "run_under_way"


def test_only_a_valid_submission_runs(
    arena: Arena, who: Who, collection: Callable[..., str]
) -> None:
    broken = collection(files={"write-x.link": ""})
    arena._validator.close()
    submission = arena.submit(who("author"), broken, "T").id
    assert refusal(lambda: launch(arena, who, submission)) == "not_valid"


def test_a_paused_challenge_gives_no_launch_and_no_lease(
    arena: Arena, who: Who, valid: str
) -> None:
    run = launch(arena, who, valid)
    paused = arena.set_challenge_state(who("editor"), "demo", "paused", "The model changes.")
    assert (paused.takes_runs, paused.why_not) == (False, "paused: The model changes.")
    assert arena.queue.lease("arena-worker", ready()) is None
    waits = arena.read.run_detail(run)
    assert waits.held == "the challenge is paused: The model changes."
    assert waits.held in describe(waits.model_dump(mode="json"))
    assert refusal(lambda: arena.launch(who("author"), valid, "demo")) == "challenge_not_open"
    again = lambda: arena.set_challenge_state(who("editor"), "demo", "paused", "x")  # noqa: E731
    assert refusal(again) == "same_state"
    arena.set_challenge_state(who("editor"), "demo", "open", "Done.")
    assert arena.read.run_detail(run).held is None
    assert leased(arena).run == run


def test_a_run_given_back_to_a_closed_challenge_waits_held_until_it_is_withdrawn(
    arena: Arena, who: Who, valid: str
) -> None:
    run, lease = launch(arena, who, valid), leased(arena)
    arena.set_challenge_state(who("editor"), "demo", "closed", "It is over.")
    stopped = Failure(lease=lease.lease, fault="platform", code=WORKER_STOPPED, reason="Stopped.")
    arena.queue.fail("arena-worker", run, stopped)
    detail = arena.read.run_detail(run)
    assert (detail.state, detail.held) == ("queued", "the challenge is closed: It is over.")
    assert arena.queue.lease("arena-worker", ready()) is None
    arena.withdraw(who("author"), valid, "A mistake.")
    arena.set_challenge_state(who("editor"), "demo", "open", "Again.")
    detail = arena.read.run_detail(run)
    assert (detail.state, detail.held, detail.place) == ("cancelled", None, None)
    assert arena.queue.lease("arena-worker", ready()) is None


@pytest.mark.parametrize(
    ("account", "code"), [("author", "not_editor"), ("editor_read", "weak_token")]
)
def test_only_editors_with_a_writing_token_pause(
    arena: Arena, who: Who, account: str, code: str
) -> None:
    pause = lambda: arena.set_challenge_state(who(account), "demo", "paused", "x")  # noqa: E731
    assert refusal(pause) == code


def test_a_run_from_the_queue_to_the_commons(arena: Arena, who: Who, valid: str) -> None:
    run = launch(arena, who, valid)
    assert (arena.read.run_detail(run).state, arena.read.run_detail(run).place) == ("queued", 1)
    lease = leased(arena)
    arena.queue.beat("arena-worker", run, Beat(lease=lease.lease, stage="gate", done=1, total=2))
    live = arena.read.run_detail(run)
    assert (live.state, live.worker, live.worker_alive) == ("running", "arena-worker", True)
    assert [(s.stage, s.done, s.total) for s in live.stages if s.status == "running"] == [
        ("gate", 1, 2)
    ]
    arena.queue.end_stage("arena-worker", run, StageEnd(lease=lease.lease, stage="gate", seconds=2))
    arena.queue.end_stage("arena-worker", run, StageEnd(lease=lease.lease, stage="gate", seconds=3))
    gate = next(s for s in arena.read.run_detail(run).stages if s.stage == "gate")
    assert (gate.status, gate.seconds) == ("done", 2), "an end is recorded once"
    content = json.dumps(report(arena.ledger.state.runs[run].record, *arms(0.25, 0.75))).encode()
    arena.queue.report("arena-worker", run, lease.lease, content)
    arena.queue.report("arena-worker", run, lease.lease, content)  # its answer was lost
    result = arena.read.run_detail(run)
    assert (result.state, result.before, result.after, result.change_pp) == (
        "scored",
        0.25,
        0.75,
        50,
    )
    assert [(d.domain, d.change_pp) for d in result.domains] == [
        ("cybersecurity", 50),
        ("software-engineering", 50),
    ]
    assert arena.read.leaderboard("demo")[0].rank is None, "a result is reviewed before it ranks"
    assert arena.review(who("editor"), run, "accepted", "Looks right.").state == "accepted"
    row = arena.read.leaderboard("demo")[0]
    assert (row.rank, row.mean_change_pp, row.accepted, row.scored) == (1, 50, 1, 1)
    wait_for(lambda: arena.read.commons())
    entry = arena.read.commons()[0]
    api = arena._api
    files = api.list_repo_files(entry.repo, repo_type="dataset", revision=entry.commit)
    assert f"{entry.folder}/collection.json" in files
    assert sum(name.endswith("/task.md") for name in files) == 4
    assert len(entry.packages) == 4


def test_who_may_not_review(arena: Arena, who: Who, valid: str) -> None:
    run = launch(arena, who, valid)
    review = lambda account: arena.review(who(account), run, "accepted", "x")  # noqa: E731
    assert refusal(lambda: review("editor")) == "not_reviewable"
    scored(arena, run)
    assert refusal(lambda: review("author")) == "not_editor"
    assert refusal(lambda: review("arena")) == "not_editor"
    assert refusal(lambda: review("editor_read")) == "weak_token"
    assert refusal(lambda: arena.review(who("editor"), run, "accepted", "  ")) == "reason_required"
    assert arena.read.run_detail(run).state == "scored"


def test_nobody_reviews_their_own(arena: Arena, who: Who, collection: Callable[..., str]) -> None:
    submission = arena.submit(who("editor"), collection("editor"), "T").id
    settled(arena, submission)
    run = arena.launch(who("editor"), submission, "demo").id
    scored(arena, run)
    own = lambda: arena.review(who("editor"), run, "accepted", "Fine.")  # noqa: E731
    assert refusal(own) == "own_collection"


def test_a_verdict_changes_only_into_the_other(arena: Arena, who: Who, valid: str) -> None:
    run = launch(arena, who, valid)
    scored(arena, run)
    editor = who("editor")
    arena.review(editor, run, "accepted", "Fine.")
    assert refusal(lambda: arena.review(editor, run, "accepted", "Fine.")) == "already_reviewed"
    arena.review(editor, run, "rejected", "A leak was found.")
    assert arena.read.leaderboard("demo")[0].rank is None
    reviews = arena.read.run_detail(run).reviews
    assert [(r.verdict, r.by, r.reason) for r in reviews] == [
        ("accepted", "editor", "Fine."),
        ("rejected", "editor", "A leak was found."),
    ]


def test_two_accept_at_once_and_one_wins(
    start_arena: Callable[..., Arena], who: Who, valid: str, arena: Arena
) -> None:
    run = launch(arena, who, valid)
    scored(arena, run)
    beside = start_arena()  # a second process on the same store
    arena.review(who("editor"), run, "accepted", "First.")
    second = lambda: beside.review(who("editor"), run, "accepted", "Second.")  # noqa: E731
    assert refusal(second) == "already_reviewed"
    assert len(beside.read.run_detail(run).reviews) == 1


def test_a_lost_worker_puts_its_run_back_once_and_then_fails_it_at_no_cost(
    start_arena: Callable[..., Arena], who: Who, collection: Callable[..., str]
) -> None:
    arena = start_arena(lease_seconds=0.2)
    submission = arena.submit(who("author"), collection(), "T").id
    settled(arena, submission)
    count = arena.challenges.challenges["demo"].ranking.runs_per_collection
    for _ in range(count + 1):
        run = launch(arena, who, submission)
        detail = lambda: arena.read.run_detail(run)  # noqa: B023, E731
        first = leased(arena)
        wait_for(lambda: detail().state == "queued")  # noqa: B023
        assert (detail().place, detail().worker) == (1, None)
        assert refusal(lambda: say(arena, first)) == "lease_lost"  # noqa: B023
        leased(arena)
        assert refusal(lambda: say(arena, first)) == "lease_lost"  # noqa: B023
        wait_for(lambda: detail().state == "failed")  # noqa: B023
        failure = detail().failure
        assert failure is not None
        assert (failure.code, failure.fault, failure.by) == ("worker_lost", "platform", "arena")
        assert not failure.counts


def say(arena: Arena, lease: Lease) -> None:
    """A late sign of life, and a late report, of a worker whose run was given to another."""
    late = json.dumps(report(arena.ledger.state.runs[lease.run].record, *arms(0, 1))).encode()
    send = lambda: arena.queue.report("arena-worker", lease.run, lease.lease, late)  # noqa: E731
    assert refusal(send) == "lease_lost", "a late report changes nothing"
    arena.queue.beat("arena-worker", lease.run, Beat(lease=lease.lease, stage="gate"))


def test_a_stopped_worker_gives_its_run_back_once(
    arena: Arena, who: Who, valid: str, collection: Callable[..., str]
) -> None:
    run = launch(arena, who, valid)
    other = arena.submit(who("rival"), collection("rival"), "T").id
    settled(arena, other)
    later = arena.launch(who("rival"), other, "demo").id
    stop = lambda lease: Failure(  # noqa: E731
        lease=lease, fault="platform", code=WORKER_STOPPED, reason="The worker was stopped."
    )
    first = leased(arena)
    arena.queue.end_stage("arena-worker", run, StageEnd(lease=first.lease, stage="gate", seconds=1))
    for _ in range(2):  # once more after a lost answer
        arena.queue.fail("arena-worker", run, stop(first.lease))
    detail = arena.read.run_detail(run)
    assert (detail.state, detail.place, detail.failure) == ("queued", 1, None)
    assert detail.requeued
    assert detail.requeued.code == WORKER_STOPPED
    assert {stage.status for stage in detail.stages} == {"waiting"}
    second = leased(arena)
    assert second.run == run, "it comes before what was launched after it"
    arena.queue.fail("arena-worker", run, stop(first.lease))
    end = StageEnd(lease=second.lease, stage="gate", seconds=2)
    arena.queue.end_stage("arena-worker", run, end)
    assert [s.seconds for s in arena.read.run_detail(run).stages if s.status == "done"] == [2]
    arena.queue.fail("arena-worker", run, stop(second.lease))
    failure = arena.read.run_detail(run).failure
    assert failure
    assert (failure.code, failure.fault, failure.counts) == (WORKER_STOPPED, "platform", False)
    assert leased(arena).run == later


def test_what_is_given_up_while_it_waits_again_counts(arena: Arena, who: Who, valid: str) -> None:
    """Its first attempt was seen."""
    run = launch(arena, who, valid)
    stopped = Failure(
        lease=leased(arena).lease, fault="platform", code=WORKER_STOPPED, reason="It was stopped."
    )
    arena.queue.fail("arena-worker", run, stopped)
    failure = arena.cancel(who("author"), run, "A mistake.").failure
    assert failure
    assert failure.counts


def test_asking_again_after_a_lost_answer_gets_the_same_run(
    arena: Arena, who: Who, valid: str
) -> None:
    run = launch(arena, who, valid)
    asked = ready()
    first = arena.queue.lease("arena-worker", asked)
    assert arena.queue.lease("arena-worker", asked) == first
    assert arena.queue.lease("arena-worker", ready()) is None
    assert [e.event for e in arena.ledger.state.runs[run].events] == ["leased"]


def test_heartbeats_keep_a_run_alive(
    start_arena: Callable[..., Arena], who: Who, collection: Callable[..., str]
) -> None:
    arena = start_arena(lease_seconds=0.6)
    submission = arena.submit(who("author"), collection(), "T").id
    settled(arena, submission)
    run = launch(arena, who, submission)
    lease = leased(arena)
    for _ in range(10):
        sleep(0.15)
        arena.queue.beat("arena-worker", run, Beat(lease=lease.lease, stage="gate"))
    assert arena.read.run_detail(run).state == "running"


def test_an_authors_fault_costs_a_run(arena: Arena, who: Who, valid: str) -> None:
    count = arena.challenges.challenges["demo"].ranking.runs_per_collection
    for _ in range(count):
        run = launch(arena, who, valid)
        failure = Failure(lease=leased(arena).lease, fault="author", code="gate", reason="1 of 2.")
        arena.queue.fail("arena-worker", run, failure)
    assert refusal(lambda: launch(arena, who, valid)) == "runs_used_up"


def test_a_failed_run_shows_the_stage_in_which_it_stopped(
    arena: Arena, who: Who, valid: str
) -> None:
    def stages() -> list[str]:
        return [stage.status for stage in arena.read.run_detail(run).stages[:4]]

    run = launch(arena, who, valid)
    lease = leased(arena).lease
    for stage in ("setup", "snapshot"):
        end = StageEnd(lease=lease, stage=stage, seconds=1)
        arena.queue.end_stage("arena-worker", run, end)
    assert stages() == ["done", "done", "waiting", "waiting"]
    failure = Failure(lease=lease, fault="author", code="gate", reason="1 of 2.")
    arena.queue.fail("arena-worker", run, failure)
    assert stages() == ["done", "done", "stopped", "waiting"]

    run = launch(arena, who, valid)
    arena.cancel(who("author"), run, "Never begun.")
    assert set(stages()) == {"waiting"}


def test_cancelling_ends_a_run(arena: Arena, who: Who, valid: str) -> None:
    run = launch(arena, who, valid)
    lease = leased(arena)
    assert refusal(lambda: arena.cancel(who("rival"), run, "x")) == "not_yours"
    assert arena.cancel(who("author"), run, "A mistake.").state == "cancelled"
    beat = Beat(lease=lease.lease, stage="gate")
    assert refusal(lambda: arena.queue.beat("arena-worker", run, beat)) == "lease_lost"
    assert refusal(lambda: arena.cancel(who("author"), run, "x")) == "not_cancellable"


def test_what_an_author_gives_up_under_way_counts(
    arena: Arena, who: Who, collection: Callable[..., str]
) -> None:
    """Its figures are seen as it goes: free to give up, only lucky runs would be left."""
    submission = arena.submit(who("author"), collection("author"), "T").id
    settled(arena, submission)
    count = arena.challenges.challenges["demo"].ranking.runs_per_collection
    for number in range(2 * count):  # neither of these counts
        run = launch(arena, who, submission)
        if number % 2:
            leased(arena)
        account = "editor" if number % 2 else "author"
        ended = arena.cancel(who(account), run, "A mistake.").failure
        assert ended
        assert not ended.counts
    for _ in range(count):
        run = launch(arena, who, submission)
        leased(arena)
        ended = arena.cancel(who("author"), run, "It goes badly.").failure
        assert ended
        assert ended.counts
    assert refusal(lambda: launch(arena, who, submission)) == "runs_used_up"


def test_too_few_tasks_are_refused_before_they_cost_a_run(
    arena: Arena, who: Who, collection: Callable[..., str]
) -> None:
    submission = arena.submit(who("author"), collection(count=1), "T").id
    assert settled(arena, submission).state == "valid"
    assert refusal(lambda: launch(arena, who, submission)) == "too_few_tasks"


@pytest.mark.parametrize(
    ("opens", "closes", "says"),
    [
        ("2999-01-01", "2999-02-01", "opens on 2999-01-01"),
        ("2001-01-01", "2001-02-01", "closed on"),
    ],
)
def test_a_challenge_takes_runs_between_its_dates(
    arena: Arena, who: Who, valid: str, opens: str, closes: str, says: str
) -> None:
    demo = arena.challenges.challenges["demo"]
    dates = Dates.model_validate({"opens": f"{opens}T00:00:00Z", "closes": f"{closes}T00:00:00Z"})
    arena.challenges.challenges["demo"] = demo.model_copy(update={"dates": dates})
    assert says in (arena.read.challenge_view("demo").why_not or "")
    assert refusal(lambda: launch(arena, who, valid)) == "challenge_not_ready"


def test_dates_are_shown_in_utc() -> None:
    demo = load_challenges(ROOT / "challenges").challenges["demo"]
    given = {"opens": "2030-01-01T01:30:00+02:00", "closes": "2031-01-01T00:00:00Z"}
    dated = demo.model_copy(update={"dates": Dates.model_validate(given)})
    now = datetime.fromisoformat("2029-01-01T00:00:00+00:00")
    assert outside_dates(dated, now) == "it opens on 2029-12-31 23:30 UTC"


def test_an_editor_named_by_the_challenge_may_end_its_runs(
    arena: Arena, who: Who, valid: str
) -> None:
    demo = arena.challenges.challenges["demo"]
    arena.challenges.challenges["demo"] = demo.model_copy(update={"editors": ("rival",)})
    run = launch(arena, who, valid)
    assert arena.read.may_launch(who("rival"), valid)
    assert arena.cancel(who("rival"), run, "A mistake.").state == "cancelled"


def test_a_worker_gets_no_run_whose_recipe_its_machine_cannot_run(
    arena: Arena, who: Who, valid: str
) -> None:
    run = launch(arena, who, valid)
    unfit = ready().model_copy(update={"unfit": {"demo": "needs a CUDA device"}})
    assert arena.queue.lease("arena-worker", unfit) is None
    assert arena.read.run_detail(run).state == "queued"
    assert leased(arena).run == run


def test_a_worker_without_docker_closes_the_challenge_to_runs(
    arena: Arena, who: Who, valid: str
) -> None:
    assert arena.queue.lease("arena-worker", ready("no Docker engine")) is None
    view = arena.read.challenge_view("demo")
    assert (view.state, view.takes_runs, view.why_not) == ("open", False, "no Docker engine")
    assert refusal(lambda: launch(arena, who, valid)) == "challenge_not_ready"


def bad_reports() -> list[tuple[str, Callable[[dict], None]]]:
    def drop_trial(r: dict) -> None:
        r["trials"].pop()

    def twice(r: dict) -> None:
        r["trials"].append(r["trials"][0])

    def other_recipe(r: dict) -> None:
        r["provenance"]["recipe_sha256"] = "0" * 64

    def out_of_range(r: dict) -> None:
        r["trials"][0]["reward"] = 1.5

    def named_task(r: dict) -> None:
        r["trials"][0]["task"] = "write-harbor"

    def other_run(r: dict) -> None:
        r["run"] = "run_other"

    def none_at_all(r: dict) -> None:
        r["trials"] = []

    cases = (drop_trial, twice, other_recipe, out_of_range, named_task, other_run, none_at_all)
    return [(case.__name__, case) for case in cases]


@pytest.mark.parametrize(("name", "spoil"), bad_reports(), ids=[n for n, _ in bad_reports()])
def test_a_report_that_is_not_the_runs_is_refused(
    arena: Arena, who: Who, valid: str, name: str, spoil: Callable[[dict], None]
) -> None:
    run = launch(arena, who, valid)
    lease = leased(arena)
    made = report(arena.ledger.state.runs[run].record, *arms(0, 1))
    spoil(made)
    send = lambda: arena.queue.report(  # noqa: E731
        "arena-worker", run, lease.lease, json.dumps(made).encode()
    )
    assert refusal(send) == "bad_report"
    assert arena.read.run_detail(run).state == "running"


@pytest.mark.parametrize("missing_after", [2, 10])
def test_too_much_missing_data_voids_the_run(
    arena: Arena, who: Who, valid: str, missing_after: int
) -> None:
    run = launch(arena, who, valid)
    lease = leased(arena)
    before, after = arms(0.5, 0.5)
    after = [[None] * missing_after + rewards[missing_after:] for rewards in after]
    made = report(arena.ledger.state.runs[run].record, before, after)
    arena.queue.report("arena-worker", run, lease.lease, json.dumps(made).encode())
    view = arena.read.run_detail(run)
    assert view.failure is not None
    assert (view.state, view.failure.code, view.failure.fault) == ("failed", "void", "platform")


def test_a_run_whose_challenge_is_gone_ends_at_no_cost(arena: Arena, who: Who, valid: str) -> None:
    """An organizer may take a challenge's file away while a worker is amid a run of it."""
    run, lease = launch(arena, who, valid), leased(arena)
    content = json.dumps(report(arena.ledger.state.runs[run].record, *arms(0, 1))).encode()
    del arena.challenges.challenges["demo"]
    arena.queue.report("arena-worker", run, lease.lease, content)
    failure = arena.read.run_detail(run).failure
    assert failure
    assert (failure.code, failure.fault, failure.counts) == ("challenge_gone", "platform", False)
