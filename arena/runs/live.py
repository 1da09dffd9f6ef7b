"""What is heard of a running run, and how long it may take yet. It stays in memory."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import NamedTuple

from arena.runs.messages import Beat


class Left(NamedTuple):
    """Estimated seconds until the end of a stage, and of the run; None: not known yet."""

    stage: float | None = None
    run: float | None = None


@dataclass
class LiveRun:
    """What a worker last said of a run, and since when its stage is followed."""

    beat: Beat | None = None
    heard: float = field(default_factory=time.monotonic)
    _began: float = 0.0
    _done_before: int = 0

    def take(self, beat: Beat, now: float) -> None:
        """Takes a sign of life; times are of the monotonic clock."""
        if self.beat is None or self.beat.stage != beat.stage:
            self._began, self._done_before = now, beat.done
        self.beat, self.heard = beat, now

    def left(self, now: float) -> Left:
        """What is to be done yet, at the rate at which the stage was done so far.

        A trial of a later stage is taken to last as long as one of this stage.
        """
        beat, took = self.beat, self.heard - self._began
        if beat is None or beat.done <= self._done_before or took <= 0:
            return Left()
        each, since = took / (beat.done - self._done_before), now - self.heard
        own = max(beat.total - beat.done, 0) * each
        whole = None if beat.ahead is None else own + beat.ahead * each
        return Left(max(own - since, 0.0), None if whole is None else max(whole - since, 0.0))
