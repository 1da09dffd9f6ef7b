"""What a stage tells, and how a run is called off in the middle of one."""

from __future__ import annotations

import dataclasses
import threading

import pytest

from arena.posttrain import events
from arena.posttrain.events import Progress, StageEvent, StageLog
from arena.posttrain.faults import Cancelled
from arena.posttrain.trials import Crew
from tests.posttrain.fakes import FakeSandbox


def test_a_stage_tells_its_start_its_counts_and_its_end() -> None:
    told: list[StageEvent] = []
    log = StageLog(told.append)
    with log.stage("gate") as progress:
        progress.expect(2)
        progress.advance(2)
    (time,) = log.times
    ended = StageEvent("gate", "finished", 2, 2, seconds=time.seconds)
    assert told == [StageEvent("gate", "started"), ended]
    assert time.stage == "gate"


def test_progress_is_told_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[StageEvent] = []
    monkeypatch.setattr(events, "PROGRESS_SECONDS", 0.0)
    progress = Progress("grpo", told.append)
    progress.expect(8)
    progress.reward_so_far = 0.25
    progress.advance(3)
    assert told == [StageEvent("grpo", "progress", 3, 8, 0.25)]


def test_a_stage_that_failed_is_not_told_as_finished() -> None:
    told: list[StageEvent] = []
    with pytest.raises(RuntimeError), StageLog(told.append).stage("sft"):
        raise RuntimeError
    assert [event.status for event in told] == ["started"]


def test_events_have_no_room_for_text() -> None:
    text = {f.name for f in dataclasses.fields(StageEvent) if "str" in str(f.type)}
    assert text == set()


def test_results_come_in_the_order_of_the_calls() -> None:
    crew = Crew(FakeSandbox().sandbox(), lambda: False)
    progress = Progress("gate", lambda event: None)
    assert crew.do([lambda n=n: n * n for n in range(9)], progress) == [n * n for n in range(9)]
    assert progress.done == 9


def test_calling_off_ends_a_stage_between_trials() -> None:
    begun = threading.Semaphore(0)
    count = 0

    def trial() -> None:
        nonlocal count
        count += 1
        begun.release()
        threading.Event().wait(0.2)

    crew = Crew(FakeSandbox().sandbox(), lambda: begun.acquire(blocking=False))
    with pytest.raises(Cancelled):
        crew.do([trial] * 100, Progress("grpo", lambda event: None))
    assert count < 20


def test_the_first_failure_ends_a_stage() -> None:
    def broken() -> None:
        raise ValueError("broken")

    crew = Crew(FakeSandbox().sandbox(), lambda: False)
    with pytest.raises(ValueError, match="broken"):
        crew.do([broken] * 3, Progress("gate", lambda event: None))


def test_a_failure_is_not_kept_waiting_by_the_calls_before_it() -> None:
    count = 0

    def slow() -> None:
        nonlocal count
        count += 1
        threading.Event().wait(0.3)

    def broken() -> None:
        raise ValueError("broken")

    crew = Crew(FakeSandbox().sandbox(), lambda: False)
    with pytest.raises(ValueError, match="broken"):
        crew.do([slow, broken, *[slow] * 50], Progress("gate", lambda event: None))
    assert count < 20


def test_a_stage_tells_the_trials_ahead_once_they_are_known() -> None:
    told: list[StageEvent] = []
    log = StageLog(told.append)
    with log.stage("gate"):
        log.trials = {"baseline": 6, "sft": 2, "grpo": 8, "final": 4}
    with log.stage("sft"):
        pass
    with log.stage("final"):
        pass
    assert [event.ahead for event in told] == [None, None, 12, 12, 0, 0]
