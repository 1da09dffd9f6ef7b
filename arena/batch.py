"""Transactions that share a commit: each is decided on the state that includes those before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple

from arena import metrics
from arena.records import AnyRecord
from arena.state import ImpossibleMove, State

Decide = Callable[[State], Sequence[AnyRecord]]


@dataclass(eq=False)
class Waiting:
    """A transaction that is not answered yet. `sent`: it is decided for a commit, or under way."""

    decide: Decide
    future: Future[list[AnyRecord]] = field(default_factory=Future)
    records: list[AnyRecord] = field(default_factory=list)
    sent: bool = False
    abandoned: bool = False


class Decided(NamedTuple):
    """The state after a batch, and who of it was refused; each other one keeps its records."""

    draft: State
    refusals: dict[Waiting, Exception]


def decide_all(state: State, batch: Sequence[Waiting]) -> Decided:
    """Decides each on a draft of `state` with those before it."""
    draft, refusals = state.draft(), dict[Waiting, Exception]()
    for number, waiting in enumerate(batch):
        waiting.records = []
        try:
            records = _numbered(waiting.decide(draft), draft.seq)
            _fold_all(draft, records)
            waiting.records = records
        except ImpossibleMove as exc:  # a fault of the code: the draft may hold half of it
            refusals[waiting] = exc
            draft = state.draft()
            for before in batch[:number]:
                _fold_all(draft, before.records)
        except Exception as exc:
            refusals[waiting] = exc
    return Decided(draft, refusals)


def answer_decided(batch: Sequence[Waiting], refusals: dict[Waiting, Exception]) -> list[Waiting]:
    """Answers who is refused, or has nothing to record; gives those that wait for the commit."""
    for waiting in batch:
        if waiting in refusals:
            metrics.TRANSACTIONS.labels("refused").inc()
            waiting.future.set_exception(refusals[waiting])
        elif not waiting.records:
            metrics.TRANSACTIONS.labels("nothing").inc()
            waiting.future.set_result([])
    return [waiting for waiting in batch if not waiting.future.done()]


def answer_landed(batch: Sequence[Waiting]) -> None:
    """Answers that the commit has landed."""
    metrics.TRANSACTIONS.labels("landed").inc(len(batch))
    for waiting in batch:
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
