"""What a write has to expect, and why nothing can be recorded now."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import NamedTuple


class Trouble(NamedTuple):
    """Why nothing can be recorded now; `reachable`: the store answers, and does not take it."""

    reachable: bool
    problem: str


class Outlook(NamedTuple):
    """What a write has to expect: how many wait already, and the seconds to the next commit.

    Those of a commit that is under way are among them.
    """

    waiting: int
    seconds: float

    @property
    def text(self) -> str:
        """The same in words."""
        waiting = "1 write waits" if self.waiting == 1 else f"{self.waiting} writes wait"
        return f"{waiting} to be recorded; {self.when}"

    @property
    def when(self) -> str:
        """When the next commit is due, in words."""
        if not self.seconds:
            return "the next commit is under way"
        due = datetime.now(UTC) + timedelta(seconds=self.seconds)
        return f"the next commit is due in {math.ceil(self.seconds)} s, at {due:%H:%M:%S} UTC"
