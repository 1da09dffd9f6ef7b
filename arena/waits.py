"""Since when a check waits for a site, and until when: over a restart too.

A wait is no record: it says something of GitHub or the Hub, and of this machine's share of their
limits. It is kept on this machine's disk.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from arena.errors import ComesBack
from arena.keptlist import KeptList

LONGEST_PAUSE = timedelta(minutes=5)
LONGEST_WAIT = timedelta(hours=24)


class Wait(BaseModel):
    """Since when a check waits, in all and for the same reason, and when it asks again."""

    model_config = ConfigDict(frozen=True)

    check: str
    began: datetime
    since: datetime
    code: str
    tries: int
    until: datetime
    reason: str


def next_wait(check: str, before: Wait | None, error: ComesBack) -> Wait | None:
    """The wait that `error` asks for, after the one `before`; None where it has waited enough."""
    now = datetime.now(UTC)
    began = before.began if before else now
    since = before.since if before and before.code == error.code else now
    tries = before.tries + 1 if before else 1
    deadline = min(began + LONGEST_WAIT, since + error.patience)
    if now >= deadline:
        return None
    pause = min(timedelta(seconds=2 ** min(tries, 20)), LONGEST_PAUSE)
    until = min(error.until or now + pause, deadline)
    return Wait(
        check=check,
        began=began,
        since=since,
        code=error.code,
        tries=tries,
        until=until,
        reason=error.message,
    )


class KeptWaits:
    """The waits of what was entered, in a file."""

    def __init__(self, file: Path) -> None:
        self._kept = KeptList(file, TypeAdapter(list[Wait]), "waits of checks")
        self._waits = {wait.check: wait for wait in self._kept.read()}
        self._lock = threading.Lock()

    def of(self, check: str) -> Wait | None:
        """The wait of a check, if it waits."""
        return self._waits.get(check)

    def keep(self, wait: Wait) -> None:
        """A check waits; what waited long ago has ended, here or in another process."""
        oldest = datetime.now(UTC) - 2 * LONGEST_WAIT
        with self._lock:
            recent = {name: w for name, w in self._waits.items() if w.began > oldest}
            self._write({**recent, wait.check: wait})

    def end(self, check: str) -> None:
        """A check waits no more."""
        with self._lock:
            if check in self._waits:
                self._write({name: w for name, w in self._waits.items() if name != check})

    def _write(self, waits: dict[str, Wait]) -> None:
        self._waits = waits
        self._kept.write(waits.values())
