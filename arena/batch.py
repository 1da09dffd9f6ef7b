"""Transactions that share a commit: each is decided on the state that includes those before it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from arena import metrics
from arena.records import AnyRecord
from arena.state import ImpossibleMove, State

Decide = Callable[[State], Sequence[AnyRecord]]


@dataclass(eq=False)
class Waiting:
    """A transaction that is not answered yet. `sent`: it is decided for a commit, or under way.

    `records`, `refusal`: what was decided last; `came`: when, on the monotonic clock.
    `lost`: what it sent in commits of which no answer came; one of them may stand, or land yet.
    `tried_alone`: whether it was seen that it needs a commit, or rests on who does.
    """

    decide: Decide
    came: float = field(default_factory=time.monotonic)
    future: Future[list[AnyRecord]] = field(default_factory=Future)
    records: list[AnyRecord] = field(default_factory=list)
    refusal: Exception | None = None
    lost: list[list[AnyRecord]] = field(default_factory=list)
    tried_alone: bool = False
    sent: bool = False
    abandoned: bool = False

    def is_refused_unseen(self, read_at: float) -> bool:
        """Whether it is refused, and not by a state that was read after it came, at `read_at`."""
        return self.refusal is not None and self.came > read_at


class Unanswered:
    """Commits whose answer was lost: what is not known of them."""

    def __init__(self) -> None:
        self.any = False
        self._is_unread = False
        self._may_land_on: set[str] = set()

    def lost(self, parent: str, may_land_yet: bool) -> None:
        """No answer came to a commit on `parent`."""
        self.any = self._is_unread = True
        if may_land_yet:
            self._may_land_on.add(parent)

    def read(self) -> None:
        """The store was read: what had landed is known."""
        self._is_unread = False

    def holds(self, head: str) -> bool:
        """Whether one may stand unseen, or land yet: nothing lands on a parent gone by."""
        return self._is_unread or head in self._may_land_on


def decide_all(state: State, batch: Sequence[Waiting]) -> State:
    """Decides each on a draft of `state` with those before it; gives the draft after the last."""
    draft = state.draft()
    for number, waiting in enumerate(batch):
        waiting.records, waiting.refusal = [], None
        try:
            records = _numbered(waiting.decide(draft), draft.seq)
            _fold_all(draft, records)
            waiting.records = records
        except ImpossibleMove as exc:  # a fault of the code: the draft may hold half of it
            waiting.refusal = exc
            draft = state.draft()
            for before in batch[:number]:
                _fold_all(draft, before.records)
        except Exception as exc:
            waiting.refusal = exc
    return draft


def need_no_commit(state: State, batch: Sequence[Waiting], read_at: float) -> list[Waiting]:
    """Those who have nothing to record also without those before them; `state` is of `read_at`.

    Who is refused is among them where the state was read after it came.
    """
    for waiting in batch:
        waiting.records, waiting.refusal = [], None
        try:
            waiting.records = list(waiting.decide(state))
        except Exception as exc:
            waiting.refusal = exc
    return [w for w in batch if not w.records and not w.is_refused_unseen(read_at)]


def split_landed(state: State, batch: Sequence[Waiting]) -> tuple[list[Waiting], list[Waiting]]:
    """Those of whom a commit stands whose answer was lost, with its records, and the others."""
    landed: list[Waiting] = []
    for waiting in batch:
        # records have ids of their own, and those of one commit land together
        stands = next((sent for sent in waiting.lost if sent[0].id in state.ids), None)
        if stands:
            waiting.records, waiting.refusal = stands, None
            landed.append(waiting)
    return landed, [waiting for waiting in batch if waiting not in landed]


def answer_decided(batch: Sequence[Waiting]) -> None:
    """Answers as was decided, once all that it rests on stands in the store."""
    for waiting in batch:
        if waiting.refusal:
            metrics.TRANSACTIONS.labels("refused").inc()
            waiting.future.set_exception(waiting.refusal)
        else:
            metrics.TRANSACTIONS.labels("landed" if waiting.records else "nothing").inc()
            waiting.future.set_result(waiting.records)


def answer_failed(batch: Sequence[Waiting], error: Exception) -> None:
    """Answers who has no answer yet that nothing came of it."""
    for waiting in batch:
        if not waiting.future.done():
            metrics.TRANSACTIONS.labels("not_recorded").inc()
            waiting.future.set_exception(error)


def _numbered(drafts: Sequence[AnyRecord], last: int) -> list[AnyRecord]:
    return [
        draft.model_copy(update={"seq": seq}) for seq, draft in enumerate(drafts, start=last + 1)
    ]


def _fold_all(draft: State, records: Sequence[AnyRecord]) -> None:
    for record in records:
        draft.fold(record)
