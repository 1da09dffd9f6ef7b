"""What the stages of runs said in words, kept in memory: the last lines of the last attempts."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from typing import NamedTuple

from arena.plaintext import plain
from arena.runs.messages import Lines

KEPT_LINES = 1000
KEPT_ATTEMPTS = 100


class Line(NamedTuple):
    """A line with its number in the attempt; a gap in the numbers is what was left out."""

    number: int
    stage: str
    text: str


class LineBook:
    """The lines of each run's last attempt, which its lease names."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._attempts: OrderedDict[str, tuple[str, deque[Line]]] = OrderedDict()

    def add(self, run: str, told: Lines) -> None:
        """Keeps lines; those that came before, as after a lost answer, are kept once."""
        with self._lock:
            lease, kept = self._attempts.pop(run, ("", deque[Line]()))
            if lease != told.lease:
                kept = deque(maxlen=KEPT_LINES)
            self._attempts[run] = told.lease, kept
            after = kept[-1].number if kept else -1
            for number, text in enumerate(told.lines, told.first):
                if number > after:
                    kept.append(Line(number, told.stage, plain(text)))
            while len(self._attempts) > KEPT_ATTEMPTS:
                self._attempts.popitem(last=False)

    def of(self, run: str) -> list[Line]:
        """The lines that are kept of a run's last attempt."""
        with self._lock:
            return list(self._attempts[run][1]) if run in self._attempts else []
