"""What this process has read of the store: what is true there, as of which commit, and when."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime

from arena.state import ImpossibleMove, State
from arena.store import Reading, Store
from arena.storefiles import Unreadable

log = logging.getLogger(__name__)


class Replica:
    """Written by the thread that commits. `state` is None until something was read.

    `head`: the commit that `state` is of; `head_at`: when it was made or first seen; `read_at`:
    when the store was asked last whether it is the newest, on the monotonic clock.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._unreadable: dict[tuple[str, int], Unreadable] = {}
        self.state: State | None = None
        self.head = ""
        self.head_at: datetime | None = None
        self.read_at = 0.0

    @property
    def unreadable(self) -> list[Unreadable]:
        """Lines of the store that were set aside: no record, or against the others."""
        return list(self._unreadable.values())

    def read_kept(self) -> None:
        """Takes what this machine keeps of the store, as long as it cannot be read itself."""
        if kept := self._store.read_kept():
            self._take(kept)

    def refresh(self) -> bool:
        """Reads what is new; whether there is a commit of another.

        Raises:
            StoreError: the store cannot be read.
        """
        began = time.monotonic()
        reading = self._store.read_new(self.state.seq if self.state else 0)
        self.read_at = began
        if reading is None:
            return False
        self._take(reading)
        self.head, self.head_at = reading.head, datetime.now(UTC)
        return True

    def advance(self, state: State, head: str, asked_at: float) -> None:
        """Takes what an own commit, asked for at `asked_at`, made true: nobody else was first."""
        self.state, self.head, self.read_at = state, head, asked_at
        self.head_at = datetime.now(UTC)

    def _take(self, reading: Reading) -> None:
        """Folds in what was read; what cannot be, is set aside, and the rest goes on without it."""
        draft = (self.state or State()).draft()
        for unreadable in reading.unreadable:
            self._set_aside(unreadable)
        for record in reading.records:
            draft.skip(record.seq - 1)
            try:
                draft.fold(record)
            except ImpossibleMove as exc:
                self._set_aside(Unreadable(f"record {record.id}", record.seq, str(exc)))
                draft.skip(record.seq)
        draft.skip(reading.last)
        self.state = draft

    def _set_aside(self, unreadable: Unreadable) -> None:
        if unreadable[:2] not in self._unreadable:
            log.error("set aside from the store: %s, %d: %s", *unreadable)
        self._unreadable[unreadable[:2]] = unreadable
