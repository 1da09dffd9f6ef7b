"""Transactions over the store: decide on what is true, commit on that parent, else decide again."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence

import httpx
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

from arena.errors import NotRecorded, OutcomeUnknown
from arena.records import AnyRecord
from arena.state import State
from arena.store import Store, StoreConflict, StoreUncertain

log = logging.getLogger(__name__)

ATTEMPTS = 8
Decide = Callable[[State], Sequence[AnyRecord]]


class Ledger:
    """The one way to write. Readers take `state`, a value that never changes under them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._state = State()
        self._head = ""

    @property
    def state(self) -> State:
        """What is true, as far as this process has read."""
        return self._state

    def open(self) -> None:
        """Makes the store where there is none, and reads it whole."""
        with self._lock:
            self._store.create()
            self._refresh()

    def transact(self, decide: Decide) -> list[AnyRecord]:
        """Appends what `decide` returns; it may be asked several times, and must not act itself.

        Returns:
            The records with their `seq`, once their commit has landed.

        Raises:
            NotRecorded: the store did not take them; nothing was recorded.
            OutcomeUnknown: the store fell silent after it was asked to commit.
            Whatever `decide` raises.
        """
        with self._lock:
            problem, lost = "another writer was first each time", list[AnyRecord]()
            for attempt in range(ATTEMPTS):
                if attempt:
                    time.sleep(random.uniform(0, 0.05 * 2**attempt))  # noqa: S311
                    if not self._try_refresh():
                        continue
                if lost and lost[0].id in self._state.ids:
                    return lost  # the commit whose answer was lost had landed
                lost = []
                records = self._numbered(decide(self._state))
                if not records:
                    return []
                state = self._state.apply(records)
                try:
                    self._head = self._store.append(records, self._head)
                except StoreConflict:
                    continue
                except StoreUncertain as exc:
                    problem, lost = str(exc), records
                    log.warning("the store's answer was lost: %s", problem)
                    continue
                self._state = state
                return records
            if lost and not self._try_refresh():
                raise OutcomeUnknown(problem=problem)
            if lost and lost[0].id in self._state.ids:
                return lost
            raise NotRecorded(problem=problem)

    def _numbered(self, drafts: Sequence[AnyRecord]) -> list[AnyRecord]:
        first = self._state.seq + 1
        return [
            draft.model_copy(update={"seq": seq}) for seq, draft in enumerate(drafts, start=first)
        ]

    def _try_refresh(self) -> bool:
        try:
            self._refresh()
        except (HfHubHTTPError, httpx.HTTPError, LocalEntryNotFoundError) as exc:
            log.warning("the store cannot be read: %s", type(exc).__name__)
            return False
        return True

    def _refresh(self) -> None:
        head, records = self._store.read_new()
        self._state = self._state.apply(records)
        self._head = head
