"""What a worker passes on of what its stages say: bounded in size and rate, without secrets."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from arena.logs import without_secrets
from arena.report import WordyStage
from arena.runs.messages import MAX_LINE, MAX_LINES

WAITING_LINES = 1000
"""The most lines that wait to be sent; what comes beyond is left out, and its numbers are."""


class Said(NamedTuple):
    """A line with its number in the attempt."""

    number: int
    stage: WordyStage
    text: str


class Saying:
    """The lines that wait to be sent. They come from any thread."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = [secret for secret in secrets if secret]
        self._lock = threading.Lock()
        self._waiting: list[Said] = []
        self._count = 0

    def say(self, stage: WordyStage, line: str) -> None:
        """Takes a line. Secrets go before it is cut, so that no half of one is left."""
        for secret in self._secrets:
            line = line.replace(secret, "[left out]")
        text = without_secrets(line)
        text = text if len(text) <= MAX_LINE else text[: MAX_LINE - 1] + "…"
        with self._lock:
            if len(self._waiting) < WAITING_LINES:
                self._waiting.append(Said(self._count, stage, text))
            self._count += 1

    def messages(self, most: int) -> Iterator[dict[str, object]]:
        """What waits as at most `most` messages; each taken is gone, sent or not."""
        for _ in range(most):
            with self._lock:
                if not self._waiting:
                    return
                taken = _run_of_numbers(self._waiting[:MAX_LINES])
                del self._waiting[: len(taken)]
            lines = [said.text for said in taken]
            yield {"stage": taken[0].stage, "first": taken[0].number, "lines": lines}


def _run_of_numbers(waiting: Sequence[Said]) -> list[Said]:
    """The first lines of one stage whose numbers follow on each other."""
    numbered = enumerate(waiting)
    _, first = next(groupby(numbered, lambda pair: (pair[1].stage, pair[1].number - pair[0])))
    return [said for _, said in first]
