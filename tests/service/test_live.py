"""What is shown of a run while it runs: counts, reward, what is left; nothing of the suite."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from arena.cli.runs import describe
from arena.identity import Identity
from arena.report import StageName
from arena.runs.live import Left, LiveRun
from arena.runs.messages import Beat
from arena.service import Arena
from tests.service.conftest import refusal
from tests.service.fronts import Fronts
from tests.service.scripted import leased

Who = Callable[[str], Identity]


def beat(stage: StageName, done: int, total: int, ahead: int | None = None) -> Beat:
    return Beat(lease="", stage=stage, done=done, total=total, ahead=ahead)


def test_nothing_is_estimated_before_there_is_a_rate() -> None:
    live = LiveRun()
    assert live.left(0) == Left()
    live.take(beat("grpo", 3, 8, 10), 100)
    live.take(beat("grpo", 3, 8, 10), 110)
    assert live.left(110) == Left()


def test_what_is_left_follows_the_rate_of_the_stage() -> None:
    live = LiveRun()
    live.take(beat("grpo", 2, 8, 10), 100)
    live.take(beat("grpo", 4, 8, 10), 104)
    assert live.left(104) == Left(8, 28)
    assert live.left(106) == Left(6, 26), "time goes on between two beats"
    assert live.left(200) == Left(0, 0)


def test_a_new_stage_has_a_rate_of_its_own() -> None:
    live = LiveRun()
    live.take(beat("baseline", 0, 8, 10), 100)
    live.take(beat("baseline", 8, 8, 10), 180)
    live.take(beat("sft", 0, 2, 8), 181)
    assert live.left(181) == Left()
    live.take(beat("sft", 1, 2, 8), 182)
    assert live.left(182) == Left(1, 9)


def test_the_end_of_the_run_is_not_guessed_before_its_trials_are_known() -> None:
    live = LiveRun()
    live.take(beat("gate", 0, 4), 100)
    live.take(beat("gate", 1, 4), 101)
    assert live.left(101) == Left(3, None)


def test_progress_reaches_page_api_and_terminal(
    arena: Arena, who: Who, valid: str, fronts: Fronts
) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    lease = leased(arena)
    said = {"lease": lease.lease, "stage": "grpo", "total": 384, "ahead": 128, "reward": 0.25}
    for done in (0, 32):
        fronts.api("worker", "POST", f"/worker/runs/{run}/heartbeat", {**said, "done": done})
    shown = fronts.api(None, "GET", f"/runs/{run}").json()["run"]
    stage = next(s for s in shown["stages"] if s["status"] == "running")
    assert (stage["done"], stage["total"], stage["reward"]) == (32, 384, 0.25)
    assert 0 <= stage["seconds_left"] <= shown["seconds_left"]  # a slow machine is past it
    assert describe(shown).startswith(f"{run}: grpo 32/384, reward 0.25, about ")
    code, answer, _ = fronts.cli(None, "run", "show", run)
    assert (code, answer["run"]["stages"][5]["done"]) == (0, 32)


@pytest.mark.parametrize("stage", ["baseline", "final"])
def test_a_stage_that_touches_the_suite_tells_no_reward(
    arena: Arena, who: Who, valid: str, stage: StageName
) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    lease = leased(arena)
    told = Beat(lease=lease.lease, stage=stage, done=1, total=2, reward=0.5)
    assert refusal(lambda: arena.queue.beat("arena-worker", run, told)) == "sealed_stage"
    counts = told.model_copy(update={"reward": None})
    arena.queue.beat("arena-worker", run, counts)
    assert arena.read.run_detail(run).stages[3 if stage == "baseline" else 6].done == 1
