"""How often the store is committed to: fast while there is room, seldomer as the hour fills.

The Hub allows a repository about 128 commits an hour. Half of the budget may be spent at once and
comes back over an hour, so that no rolling hour sees more than the budget, and no commit ever
waits longer than two hours' share of one (120 s at 60 an hour), at any load. Commits never stand
closer than a sixtieth of that (2 s): what comes at once shares one, also while there is room.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

HOUR = 3600.0
_CLOSEST = 1 / 60  # of the time in which one commit comes back


class CommitBudget:
    """A bucket of commits that fills slowly; the emptier it is, the longer commits stand apart."""

    def __init__(self, per_hour: int, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds, on the clock of the times given to `begin_with`."""
        self._size = per_hour / 2 - 1  # one is left for compaction, which follows a commit at once
        self._fill = per_hour / 2 / HOUR  # commits a second
        self._free = self._size / 3  # above this level nothing waits
        self._clock = clock
        self._level = self._size
        self._last = 0.0

    def begin_with(self, times: Iterable[float]) -> None:
        """Begins anew, with the commits that were made at these times, oldest first."""
        self._level, self._last = self._size, 0.0
        for at in times:
            self._count(at)

    def note(self) -> None:
        """Counts a commit made now."""
        self._count(self._clock())

    def _count(self, at: float) -> None:
        # never below nothing: what others overspent is not to be worked off for hours
        self._level = max(0.0, self._level_at(at) - 1)
        self._last = max(self._last, at)

    def delay(self) -> float:
        """Seconds until the next commit is due; 0 where it may be made now."""
        now = self._clock()
        short = max(0.0, 1 - self._level_at(now)) / self._fill
        emptiness = min(1.0, max(0.0, 1 - self._level / self._free))
        apart = self._last + max(_CLOSEST, emptiness**2) / self._fill - now
        return max(0.0, short, apart if self._last else 0.0)

    def _level_at(self, now: float) -> float:
        since = max(0.0, now - self._last) if self._last else 0.0
        return min(self._size, self._level + since * self._fill)
