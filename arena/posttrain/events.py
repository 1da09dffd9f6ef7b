"""What a run says while it runs: typed counters, never text.

Some stages touch the sealed suite, and what has no text cannot leak any.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from arena.report import STAGES, StageName, StageTime

PROGRESS_SECONDS = 2.0
"""Progress of a long stage is told at most, and about, this often."""


@dataclass(frozen=True)
class StageEvent:
    """One step of a stage. `reward_so_far` is the training reward of the newest step."""

    stage: StageName
    status: Literal["started", "progress", "finished"]
    done: int = 0
    total: int = 0
    reward_so_far: float | None = None
    ahead: int | None = None
    """The trials of later stages; None while they are not known."""


EventSink = Callable[[StageEvent], None]


class Progress:
    """The counters of one stage under way."""

    def __init__(self, stage: StageName, on_event: EventSink, ahead: int | None = None) -> None:
        self.done = 0
        self.total = 0
        self.reward_so_far: float | None = None
        self._stage = stage
        self._ahead = ahead
        self._on_event = on_event
        self._told = time.monotonic()

    def expect(self, count: int) -> None:
        """Announces `count` more things to do."""
        self.total += count

    def advance(self, count: int = 1) -> None:
        self.done += count
        self.beat()

    def beat(self) -> None:
        """Tells where the stage is, unless it was told just now."""
        if time.monotonic() - self._told >= PROGRESS_SECONDS:
            self.tell("progress")

    def tell(self, status: Literal["started", "progress", "finished"]) -> None:
        self._told = time.monotonic()
        counts = (self.done, self.total, self.reward_so_far, self._ahead)
        self._on_event(StageEvent(self._stage, status, *counts))


class StageLog:
    """Opens the stages one after another and keeps their times."""

    def __init__(self, on_event: EventSink) -> None:
        self.times: list[StageTime] = []
        self.trials: dict[StageName, int] = {}
        """How many trials each stage makes, once that is known."""
        self._on_event = on_event

    @contextmanager
    def stage(self, name: StageName) -> Iterator[Progress]:
        progress = Progress(name, self._on_event, self._ahead(name))
        began = time.monotonic()
        progress.tell("started")
        yield progress
        self.times.append(StageTime(stage=name, seconds=round(time.monotonic() - began, 3)))
        progress.tell("finished")

    def _ahead(self, name: StageName) -> int | None:
        """The trials of the stages after `name`."""
        if name not in self.trials:
            return None
        return sum(self.trials.get(later, 0) for later in STAGES[STAGES.index(name) + 1 :])
