"""Replays: who gets which content, what is refused of what comes back, and what is shown."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from arena.identity import Identity
from arena.records import ReplayRow
from arena.runs.replays import HandBack, ReplayBeat, ReplayLease, verdict_of
from arena.service import Arena
from tests.collections import upload
from tests.hub import RunningHub
from tests.service.conftest import refusal, settled, wait_for
from tests.service.scripted import leased, ready, ready_to_replay, replay_report, replay_row

Who = Callable[[str], Identity]
WORKER = "arena-worker"


def replay_leased(arena: Arena, *skip: str) -> ReplayLease:
    lease = arena.replays.lease(WORKER, ready_to_replay(*skip))
    assert lease is not None
    return lease


def names(arena: Arena, submission: str) -> list[str]:
    return [package.name for package in arena.read.submission_detail(submission).package_rows]


def send(arena: Arena, lease: ReplayLease, report: dict[str, Any], worker: str = WORKER) -> None:
    arena.replays.report(worker, lease.collection, json.dumps(report).encode())


def beat(arena: Arena, lease: ReplayLease, done: int = 0, total: int = 4) -> bool:
    counts = ReplayBeat(lease=lease.lease, done=done, total=total)
    return arena.replays.beat(WORKER, lease.collection, counts)


def text(arena: Arena, submission: str) -> str:
    replay = arena.read.submission_detail(submission).replay
    assert replay is not None
    return replay.text


def test_a_replay_from_the_wait_to_the_record(arena: Arena, valid: str) -> None:
    waiting = arena.read.submission_detail(valid).replay
    assert waiting is not None
    assert (waiting.state, waiting.total) == ("waiting", 4)
    assert "no worker is connected" in waiting.text

    arena.queue.lease(WORKER, ready())
    assert "runs go first" in text(arena, valid)
    lease = replay_leased(arena)
    assert lease.submission == valid
    assert beat(arena, lease, done=2)
    running = arena.read.submission_detail(valid).replay
    assert running is not None
    assert (running.state, running.done, running.by) == ("running", 2, WORKER)

    first, second, *others = names(arena, valid)
    failing = {
        "verdict": "oracle fails",
        "reason": "the oracle scores 0, not 1.0",
        "oracle": 0.0,
        "said": [{"who": "oracle (exit 1)", "text": "no such file"}],
    }
    solved = {"verdict": "untouched scores", "reason": "solved before it begins", "untouched": 1}
    report = replay_report(lease, [second, first, *others], {first: failing, second: solved})
    send(arena, lease, report)
    seq = arena.ledger.state.seq
    send(arena, lease, report)  # its answer was lost
    assert arena.ledger.state.seq == seq
    done = arena.read.submission_detail(valid).replay
    assert done is not None
    assert (done.state, done.proven, done.total, done.text) == (
        "done",
        2,
        4,
        "2 of 4 oracles proven",
    )
    assert [row.name for row in done.packages] == names(arena, valid)
    assert done.packages[0].said[0].text == "no such file"
    assert arena.replays.lease(WORKER, ready_to_replay()) is None, "nothing is left"
    listed = arena.read.submission_views()[0].model_dump()
    assert listed["replay"]["proven"] == 2
    assert "packages" not in listed["replay"], "lists don't carry what oracles wrote"


def test_oldest_first_and_each_content_once(
    arena: Arena, who: Who, collection: Callable[..., str]
) -> None:
    first, second = (arena.submit(who("author"), collection(), "T").id for _ in range(2))
    for submission in (first, second):
        settled(arena, submission)
    one, two = replay_leased(arena), replay_leased(arena)
    assert (one.submission, two.submission) == (first, second)
    assert arena.replays.lease(WORKER, ready_to_replay()) is None, "both are under way"


def test_what_is_skipped_is_left_to_others(arena: Arena, valid: str) -> None:
    content = arena.read.submission_detail(valid).collection
    assert content is not None
    assert arena.replays.lease(WORKER, ready_to_replay(content)) is None
    assert replay_leased(arena).submission == valid


def test_what_is_not_valid_is_not_replayed(
    arena: Arena, who: Who, collection: Callable[..., str]
) -> None:
    bad = arena.submit(who("author"), collection(files={"submission.yaml": "x: [\n"}), "T").id
    assert settled(arena, bad).state == "invalid"
    assert arena.read.submission_detail(bad).replay is None
    assert arena.replays.lease(WORKER, ready_to_replay()) is None


def test_asking_again_after_a_lost_answer_gets_the_same_replay(arena: Arena, valid: str) -> None:
    asked = ready_to_replay()
    first = arena.replays.lease(WORKER, asked)
    assert first is not None
    assert arena.replays.lease(WORKER, asked) == first
    assert first.submission == valid


def test_a_queued_run_goes_first(arena: Arena, who: Who, valid: str) -> None:
    lease = replay_leased(arena)
    assert beat(arena, lease)
    run = arena.launch(who("author"), valid, "demo").id
    assert not beat(arena, lease), "a run waits: begin no other package"
    arena.replays.hand_back(WORKER, lease.collection, HandBack(lease=lease.lease))
    assert leased(arena).run == run
    assert "tried again" not in text(arena, valid), "giving way is no trouble"
    again = replay_leased(arena)
    assert beat(arena, again), "the run is leased, so nothing waits"


def test_a_run_of_a_paused_challenge_holds_up_no_replay(arena: Arena, who: Who, valid: str) -> None:
    arena.launch(who("author"), valid, "demo")
    arena.set_challenge_state(who("editor"), "demo", "paused", "The model changes.")
    assert beat(arena, replay_leased(arena))


def test_trouble_is_shown_until_it_is_tried_again(arena: Arena, valid: str) -> None:
    arena.queue.lease(WORKER, ready())
    lease = replay_leased(arena)
    trouble = "write-0: no space left on device"
    for again, says in ((True, "tried again soon"), (False, "when the worker is started anew")):
        back = HandBack(lease=lease.lease, trouble=trouble, again=again)
        arena.replays.hand_back(WORKER, lease.collection, back)
        assert "waits for the engine" in text(arena, valid)
        assert trouble in text(arena, valid)
        assert says in text(arena, valid)
        lease = replay_leased(arena)
        assert "Being replayed" in text(arena, valid)
    assert arena.ledger.state.replays == {}, "trouble is never recorded as the package's"


def test_a_worker_without_an_engine_is_said_so(arena: Arena, valid: str) -> None:
    arena.queue.lease(WORKER, ready("no Docker engine"))
    assert text(arena, valid) == (
        "The replay waits for the engine: the worker reports “no Docker engine”."
    )


def test_a_dead_workers_replay_is_given_to_the_next(
    start_arena: Callable[..., Arena], who: Who, collection: Callable[..., str]
) -> None:
    arena = start_arena(lease_seconds=0.4)
    submission = arena.submit(who("author"), collection(), "T").id
    settled(arena, submission)
    lost = replay_leased(arena)
    wait_for(lambda: "Waiting" in text(arena, submission))
    lease = replay_leased(arena)
    assert refusal(lambda: beat(arena, lost)) == "lease_lost"
    late = replay_report(lost, names(arena, submission))
    assert refusal(lambda: send(arena, lost, late)) == "lease_lost"
    send(arena, lease, replay_report(lease, names(arena, submission)))


def test_a_worker_goes_on_after_the_arena_was_started_anew(
    start_arena: Callable[..., Arena], who: Who, valid: str, arena: Arena
) -> None:
    lease = replay_leased(arena)
    arena.close()
    anew = start_arena()
    assert beat(anew, lease, done=3)
    assert anew.replays.lease(WORKER, ready_to_replay()) is None, "it is still that worker's"
    send(anew, lease, replay_report(lease, names(anew, valid)))
    assert text(anew, valid) == "4 of 4 oracles proven"


def test_nobody_else_ends_or_holds_a_replay(arena: Arena, valid: str) -> None:
    lease = replay_leased(arena)
    report = replay_report(lease, names(arena, valid))
    assert refusal(lambda: send(arena, lease, report, worker="other")) == "lease_lost"
    other = lease.model_copy(update={"lease": "f" * 32})
    assert refusal(lambda: beat(arena, other)) == "lease_lost"
    back = HandBack(lease="f" * 32)
    give = lambda: arena.replays.hand_back(WORKER, lease.collection, back)  # noqa: E731
    assert refusal(give) == "lease_lost"
    nothing = ReplayBeat(lease=lease.lease, done=0, total=0)
    assert refusal(lambda: arena.replays.beat(WORKER, "0" * 64, nothing)) == "lease_lost"


def bad_replays() -> list[tuple[str, Callable[[dict[str, Any]], None]]]:
    def other_digest(r: dict[str, Any]) -> None:
        r["collection"] = "0" * 64

    def unknown_package(r: dict[str, Any]) -> None:
        r["packages"][0]["name"] = "write-harbor"

    def one_too_many(r: dict[str, Any]) -> None:
        r["packages"].append(replay_row("write-harbor"))

    def missing_package(r: dict[str, Any]) -> None:
        r["packages"].pop()

    def twice(r: dict[str, Any]) -> None:
        r["packages"].append(r["packages"][0])

    def proven_without_oracle(r: dict[str, Any]) -> None:
        r["packages"][0]["oracle"] = 0.99

    def proven_though_untouched_scores(r: dict[str, Any]) -> None:
        r["packages"][0]["untouched"] = 1.0

    def proven_without_reward(r: dict[str, Any]) -> None:
        r["packages"][0]["untouched"] = None

    def failing_with_full_rewards(r: dict[str, Any]) -> None:
        r["packages"][0] |= {"verdict": "oracle fails", "reason": "so it is said"}

    def not_built_with_a_reward(r: dict[str, Any]) -> None:
        r["packages"][0] |= {"verdict": "not built", "reason": "so it is said", "oracle": None}

    def failing_without_reason(r: dict[str, Any]) -> None:
        r["packages"][0] |= {"verdict": "oracle fails", "oracle": 0}

    def engine_trouble(r: dict[str, Any]) -> None:
        r["packages"][0] |= {"verdict": "no engine", "reason": "x", "oracle": None}

    def out_of_range(r: dict[str, Any]) -> None:
        r["packages"][0]["oracle"] = 1.5

    def endless_output(r: dict[str, Any]) -> None:
        r["packages"][0]["said"] = [{"who": "oracle", "text": "x" * 5000}]

    cases = (
        other_digest, unknown_package, one_too_many, missing_package, twice,
        proven_without_oracle, proven_though_untouched_scores, proven_without_reward,
        failing_with_full_rewards, not_built_with_a_reward, failing_without_reason,
        engine_trouble, out_of_range, endless_output,
    )  # fmt: skip
    return [(case.__name__, case) for case in cases]


def test_a_report_that_is_not_whole_or_contradicts_itself_is_refused(
    arena: Arena, valid: str
) -> None:
    lease = replay_leased(arena)
    for name, spoil in bad_replays():
        report = replay_report(lease, names(arena, valid))
        spoil(report)
        assert refusal(lambda: send(arena, lease, report)) == "bad_replay", name  # noqa: B023
    assert refusal(lambda: arena.replays.report(WORKER, lease.collection, b"{")) == "bad_replay"
    assert arena.ledger.state.replays == {}
    send(arena, lease, replay_report(lease, names(arena, valid)))


@pytest.mark.parametrize(
    ("oracle", "untouched", "claimed", "verdict"),
    [
        (1.0, 0.0, "proven", "proven"),
        (1.0, 0.99, "oracle fails", "proven"),
        (0.99, 1.0, "proven", "oracle fails"),
        (1.0, 1.0, "proven", "untouched scores"),
        (None, 0.0, "not built", "no reward"),
        (1.0, None, "proven", "no reward"),
        (None, None, "proven", "no reward"),
        (None, None, "not built", "not built"),
    ],
)
def test_a_verdict_is_what_the_rewards_come_to(
    oracle: float | None, untouched: float | None, claimed: str, verdict: str
) -> None:
    row = replay_row("p", oracle=oracle, untouched=untouched, verdict=claimed)
    assert verdict_of(ReplayRow.model_validate(row)) == verdict


def test_the_same_content_entered_again_is_proven_already(
    arena: Arena, who: Who, hub: RunningHub, collection: Callable[..., str], tmp_path: Any
) -> None:
    source = collection()
    first = arena.submit(who("author"), source, "T").id
    settled(arena, first)
    lease = replay_leased(arena)
    send(arena, lease, replay_report(lease, names(arena, first)))
    repo = source.removeprefix("hf:").partition("@")[0]
    folder = next(path for path in tmp_path.iterdir() if repo.endswith(path.name))
    (folder / "README.md").write_text("A card beside the packages is no part of the content.\n")
    commit = upload(hub.api("author"), repo, folder)
    again = arena.submit(who("author"), f"hf:{repo}@{commit}", "T").id
    assert settled(arena, again).state == "valid"
    assert text(arena, again) == "4 of 4 oracles proven"
    assert arena.replays.lease(WORKER, ready_to_replay()) is None


def test_a_replay_has_the_most_that_an_open_challenge_gives(
    arena: Arena, who: Who, valid: str
) -> None:
    demo = arena.challenges.challenges["demo"]

    def beside(name: str, memory_mb: int, cpus: float) -> None:
        training = demo.sandbox.training.model_copy(
            update={"memory_mb": memory_mb, "cpus": cpus, "network": True}
        )
        sandbox = demo.sandbox.model_copy(update={"training": training})
        arena.challenges.challenges[name] = demo.model_copy(update={"id": name, "sandbox": sandbox})

    beside("wide", memory_mb=4096, cpus=0.5)
    caps = replay_leased(arena).caps
    own = demo.sandbox.training
    assert (caps.memory_mb, caps.cpus, caps.network) == (4096, own.cpus, True)
    assert caps.agent_timeout_sec == own.agent_timeout_sec


def test_a_closed_challenge_gives_nothing(arena: Arena, who: Who, valid: str) -> None:
    demo = arena.challenges.challenges["demo"]
    small = demo.sandbox.training.model_copy(update={"memory_mb": 32})
    sandbox = demo.sandbox.model_copy(update={"training": small})
    arena.challenges.challenges["small"] = demo.model_copy(
        update={"id": "small", "sandbox": sandbox}
    )
    arena.challenges.recipes["small"] = arena.challenges.recipes["demo"]
    arena.set_challenge_state(who("editor"), "demo", "closed", "It is over.")
    lease = replay_leased(arena)
    assert lease.caps.memory_mb == 32
    arena.replays.hand_back(WORKER, lease.collection, HandBack(lease=lease.lease))
    arena.set_challenge_state(who("editor"), "small", "closed", "It is over.")
    assert replay_leased(arena).caps.memory_mb == 128, "with none open, all are looked at"
