"""What stages say in words: of the author's tasks alone, bounded, without secrets, harmless."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from arena.client import ArenaClient
from arena.identity import Identity
from arena.posttrain.events import StageEvent
from arena.report import STAGES, WORDY_STAGES
from arena.runs import lines as kept
from arena.runs.heartbeat import FINAL_MESSAGES, Heartbeat
from arena.runs.lines import LineBook
from arena.runs.messages import MAX_LINE, MAX_LINES, Lines
from arena.runs.saying import WAITING_LINES, Saying
from arena.service import Arena
from tests.service.conftest import refusal
from tests.service.fronts import Fronts
from tests.service.scripted import leased

Who = Callable[[str], Identity]


def told(*lines: str, first: int = 0, lease: str = "a") -> Lines:
    return Lines(lease=lease, stage="gate", first=first, lines=list(lines))


def test_a_worker_sends_no_secret_and_no_endless_line() -> None:
    saying = Saying(["the-key", ""])
    saying.say("gate", "a the-key b hf_abc " + "x" * 1000)
    (message,) = saying.messages(1)
    (line,) = message["lines"]  # type: ignore[misc]
    assert line.startswith("a [left out] b [left out] xx")
    assert len(line) == MAX_LINE


def test_a_worker_sends_so_many_lines_and_the_numbers_tell_what_is_left_out() -> None:
    saying = Saying([])
    for number in range(WAITING_LINES + 50):
        saying.say("sft", str(number))
    sent = list(saying.messages(100))
    assert [len(m["lines"]) for m in sent] == [MAX_LINES] * (WAITING_LINES // MAX_LINES)  # type: ignore[arg-type]
    saying.say("sft", "after")
    saying.say("grpo", "later")
    assert list(saying.messages(100)) == [
        {"stage": "sft", "first": WAITING_LINES + 50, "lines": ["after"]},
        {"stage": "grpo", "first": WAITING_LINES + 51, "lines": ["later"]},
    ]


def test_lines_are_kept_once_and_the_last_of_the_last_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept, "KEPT_LINES", 3)
    monkeypatch.setattr(kept, "KEPT_ATTEMPTS", 2)
    book = LineBook()
    book.add("run", told("0", "1"))
    book.add("run", told("0", "1", "2"))  # its answer was lost
    assert [line.text for line in book.of("run")] == ["0", "1", "2"]
    book.add("run", told("5", "\x1b[31m", first=5))
    assert [(line.number, line.text) for line in book.of("run")] == [
        (2, "2"),
        (5, "5"),
        (6, "\\x1b[31m"),
    ]
    book.add("run", told("again", lease="b"))
    assert [line.text for line in book.of("run")] == ["again"]
    for other in ("x", "y"):
        book.add(other, told("z"))
    assert book.of("run") == []


def test_only_stages_of_the_authors_tasks_may_speak(arena: Arena, who: Who, valid: str) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    lease = leased(arena).lease
    for stage in STAGES:
        line = Lines(lease=lease, stage=stage, first=0, lines=[stage])
        say = lambda line=line: arena.queue.say("arena-worker", run, line)  # noqa: E731
        if stage in WORDY_STAGES:
            say()
        else:
            assert refusal(say) == "sealed_stage"
    foreign = told("x", lease="0" * 32)
    assert refusal(lambda: arena.queue.say("arena-worker", run, foreign)) == "lease_lost"
    assert refusal(lambda: arena.queue.say("other", run, told("x", lease=lease))) == "lease_lost"


def test_what_a_run_said_is_read_by_everybody(
    arena: Arena, who: Who, valid: str, fronts: Fronts
) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    assert fronts.cli(None, "run", "logs", run)[1]["lines"] == []
    life = Heartbeat(ArenaClient(fronts.url, "hf_worker"), leased(arena), threading.Event())
    life.on_event(StageEvent("gate", "started"))
    life.on_line("gate", "write-a: left out: \x1b[2J")
    life.on_event(StageEvent("gate", "finished", 1, 1))
    life.on_line("sft", "step 1: loss 2.0")
    life.pass_on(FINAL_MESSAGES)
    answer = fronts.api(None, "GET", f"/runs/{run}/logs").json()
    assert answer["lines"] == [
        {"number": 0, "stage": "gate", "text": "write-a: left out: \\x1b[2J"},
        {"number": 1, "stage": "sft", "text": "step 1: loss 2.0"},
    ]
    assert fronts.cli(None, "run", "logs", run)[1]["lines"] == answer["lines"]
    assert fronts.cli(None, "run", "logs", "run_nothing")[1]["error"]["code"] == "unknown_run"
