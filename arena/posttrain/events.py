"""What a run says while it runs: typed counters, and words only where no suite is touched.

Some stages touch the sealed suite, and what has no text cannot leak any: their progress has no way
to say a word.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

from arena.report import STAGES, StageName, StageTime, WordyStage

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
    seconds: float | None = None
    """How long a finished stage took, in whichever attempt of the run that was."""


EventSink = Callable[[StageEvent], None]
LineSink = Callable[[WordyStage, str], None]
"""Takes what a stage says, one line at a time, from any thread."""


class Progress:
    """The counters of one stage under way."""

    def __init__(self, stage: StageName, on_event: EventSink, ahead: int | None = None) -> None:
        self.done = 0
        self.total = 0
        self.reward_so_far: float | None = None
        self._stage = stage
        self._ahead = ahead
        self._on_event = on_event
        self._began = self._told = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long the stage took so far."""
        return round(time.monotonic() - self._began, 3)

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

    def tell(
        self, status: Literal["started", "progress", "finished"], seconds: float | None = None
    ) -> None:
        self._told = time.monotonic()
        counts = (self.done, self.total, self.reward_so_far, self._ahead)
        self._on_event(StageEvent(self._stage, status, *counts, seconds))


class WordyProgress(Progress):
    """The counters of a stage that touches the author's tasks alone, and what it says."""

    def __init__(
        self,
        stage: WordyStage,
        on_event: EventSink,
        on_line: LineSink = lambda _stage, _line: None,
        ahead: int | None = None,
    ) -> None:
        super().__init__(stage, on_event, ahead)
        self._say = partial(on_line, stage)

    def say(self, text: str) -> None:
        """Says something, in one line or several."""
        for line in text.splitlines():
            if line.strip():
                self._say(line.rstrip())


class StageLog:
    """Opens the stages one after another and keeps their times."""

    def __init__(self, on_event: EventSink, on_line: LineSink = lambda _stage, _line: None) -> None:
        self._on_line = on_line
        self.times: list[StageTime] = []
        self.trials: dict[StageName, int] = {}
        """How many trials each stage makes, once that is known."""
        self._on_event = on_event

    @contextmanager
    def stage(self, name: StageName) -> Iterator[Progress]:
        """A stage that tells counts alone."""
        with self._timed(name, Progress(name, self._on_event, self._ahead(name))) as progress:
            yield progress

    @contextmanager
    def wordy_stage(self, name: WordyStage) -> Iterator[WordyProgress]:
        """A stage that touches the author's tasks alone."""
        progress = WordyProgress(name, self._on_event, self._on_line, self._ahead(name))
        with self._timed(name, progress):
            yield progress

    @contextmanager
    def _timed(self, name: StageName, progress: Progress) -> Iterator[Progress]:
        progress.tell("started")
        yield progress
        self.end(name, progress.seconds, progress)

    def end(self, name: StageName, seconds: float, progress: Progress) -> None:
        """Notes that a stage is whole and how long it took."""
        self.times.append(StageTime(stage=name, seconds=seconds))
        progress.tell("finished", seconds)

    def take_over(self, name: StageName, seconds: float) -> None:
        """Notes a stage that an earlier attempt of the run made whole."""
        self.end(name, seconds, Progress(name, self._on_event, self._ahead(name)))

    def _ahead(self, name: StageName) -> int | None:
        """The trials of the stages after `name`."""
        if name not in self.trials:
            return None
        return sum(self.trials.get(later, 0) for later in STAGES[STAGES.index(name) + 1 :])
