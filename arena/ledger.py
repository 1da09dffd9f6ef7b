"""Transactions over the store: decide on what is true, commit on that parent, else decide again.

One thread commits. Transactions that wait share a commit, each decided on the state that includes
those before it, and a caller is answered once that commit has landed, also who has nothing to
record or is refused for the sake of those before. Who has nothing to record without them waits for
no commit. Nobody is refused but by a state that was read after the request came.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime

from arena import metrics
from arena.batch import (
    Decide,
    Unanswered,
    Waiting,
    answer_decided,
    answer_failed,
    decide_all,
    need_no_commit,
    split_landed,
)
from arena.budget import CommitBudget
from arena.errors import ArenaError, NotRecorded, OutcomeUnknown, StoreUnavailable
from arena.outlook import Outlook, Trouble
from arena.records import AnyRecord
from arena.replica import Replica
from arena.state import State
from arena.store import (
    COMPACT_AT,
    Store,
    StoreConflict,
    StoreError,
    StoreRefused,
    StoreUncertain,
    StoreUnread,
)
from arena.storefiles import Unreadable

log = logging.getLogger(__name__)

ATTEMPTS = 8
PATIENCE = 240.0  # seconds; the budget alone makes nobody wait longer than 120
MAX_BATCH = 500  # transactions in one commit
POLL_SECONDS = 10.0  # how often another process's records are looked for
_COMPACT_AGAIN_SECONDS = 60.0
_LOOK_SECONDS = 0.5  # reads for who is refused are as far apart: they are shared, and no hammer


class Ledger:
    """The one way to write. Readers take `state`, a value that never changes under them."""

    def __init__(self, store: Store, budget: CommitBudget) -> None:
        self._store = store
        self._budget = budget
        self._changed = threading.Condition()
        self._queue: list[Waiting] = []
        self._sending = 0
        self._replica = Replica(store)
        self._is_open = False
        self._trouble: Trouble | None = None
        self._compact_after = 0.0
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)

    @property
    def state(self) -> State:
        """What is true, as far as this process has read.

        Raises:
            StoreUnavailable: nothing has been read yet.
        """
        if self._replica.state is None:
            raise StoreUnavailable(problem=self._problem("it is being read"))
        return self._replica.state

    @property
    def trouble(self) -> Trouble | None:
        """Why nothing can be recorded now; None where it can."""
        return self._trouble

    @property
    def unreadable(self) -> list[Unreadable]:
        """Lines of the store that were set aside: no record, or against the others."""
        return self._replica.unreadable

    @property
    def head(self) -> tuple[str, datetime | None]:
        """The commit that `state` is of, and when it was made or first seen."""
        return self._replica.head, self._replica.head_at

    def outlook(self) -> Outlook:
        """What a write that comes now has to expect."""
        with self._changed:
            return Outlook(len(self._queue) + self._sending, self._budget.delay())

    def open(self) -> None:
        """Reads the store, or what this machine keeps of it, and begins to take transactions.

        Where the store cannot be reached or written, `trouble` says why until it can.
        """
        self._try_open()
        if not self._is_open:
            self._replica.read_kept()
        self._thread.start()

    def close(self) -> None:
        """Ends after the commit that is under way and one last for what still waits."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=60)
        answer_failed(self._queue, NotRecorded(problem="the arena is being stopped"))

    def transact(self, decide: Decide) -> list[AnyRecord]:
        """Appends what `decide` returns; it may be asked several times, and must not act itself.

        Returns:
            The records with their `seq`, once their commit has landed.

        Raises:
            NotRecorded: the store did not take them in time; nothing was recorded.
            OutcomeUnknown: the store fell silent after it was asked to commit.
            Whatever `decide` raises.
        """
        waiting = self._enqueue(decide)
        try:
            return waiting.future.result(timeout=PATIENCE)
        except TimeoutError:
            with self._changed:
                waiting.abandoned = True
                if waiting.future.done():
                    return waiting.future.result()
                if waiting.sent:
                    raise OutcomeUnknown(problem="no answer in time") from None
                return self._give_up(waiting)

    def enqueue(self, decide: Decide) -> Future[list[AnyRecord]]:
        """`transact` for who does not wait: the future ends as that call would."""
        return self._enqueue(decide).future

    def require(self, check: Callable[[State], object]) -> None:
        """Raises what `check` raises, and only by a state that was read after the call.

        What the state in memory allows asks the store nothing; it records nothing in any case.

        Raises:
            NotRecorded: the store did not say in time whether the refusal is right.
        """

        def decide(state: State) -> list[AnyRecord]:
            check(state)
            return []

        state = self.state
        try:
            check(state)
        except ArenaError:
            self.transact(decide)

    def _enqueue(self, decide: Decide) -> Waiting:
        waiting = Waiting(decide)
        with self._changed:
            if self._closing:
                raise NotRecorded(problem="the arena is being stopped")
            if not self._is_open:
                raise NotRecorded(problem=self._problem("it has not been read yet"))
            self._queue.append(waiting)
            self._changed.notify_all()
        return waiting

    def _give_up(self, waiting: Waiting) -> list[AnyRecord]:
        if waiting in self._queue:
            self._queue.remove(waiting)
        outlook = self.outlook()
        problem = f"{outlook.waiting} others wait, and {outlook.when}"
        raise NotRecorded(problem=self._problem(problem))

    def _problem(self, otherwise: str) -> str:
        return self._trouble.problem if self._trouble else otherwise

    # The thread that commits

    def _work(self) -> None:
        while not self._closing:
            batch, fresh = self._next()
            try:
                self._step(batch, fresh)
            except Exception as exc:
                log.exception("the ledger met a fault; it goes on")
                answer_failed(batch, exc)
            self._sending = 0
        with self._changed:
            last, self._queue = self._queue, []
        if last and self._is_open:
            self._commit(last)  # one commit beyond the budget, so that a stop loses no work

    def _next(self) -> tuple[list[Waiting], list[Waiting]]:
        """What is to be committed now, else what came since; waits a while for either."""
        with self._changed:
            delay = self._budget.delay() if self._queue and self._is_open else POLL_SECONDS
            if delay and not self._closing and not self._fresh():
                self._changed.wait(min(delay, POLL_SECONDS))
            if not self._queue or not self._is_open or self._budget.delay():
                return [], self._fresh()
            batch, self._queue = self._queue[:MAX_BATCH], self._queue[MAX_BATCH:]
            self._sending = len(batch)
            return batch, []

    def _fresh(self) -> list[Waiting]:
        """Who waits, and was not looked at yet; the lock is held."""
        return [w for w in self._queue if not w.tried_alone] if self._is_open else []

    def _step(self, batch: list[Waiting], fresh: list[Waiting]) -> None:
        if batch:
            self._commit(batch)
        elif not self._is_open:
            self._try_open()
        else:
            if fresh:
                self._answer_early(fresh)
            if time.monotonic() - self._replica.read_at >= POLL_SECONDS:
                self._try_refresh()
        many = self._store.files >= COMPACT_AT and time.monotonic() >= self._compact_after
        if self._is_open and many and (batch or not self._budget.delay()):
            self._compact()  # else writes that never end would leave it no turn

    def _answer_early(self, fresh: list[Waiting]) -> None:
        """Answers who needs no commit, though none is due; the others go on waiting for one."""
        early = need_no_commit(self.state, fresh, self._replica.read_at)
        if self._needs_look(fresh) and self._look():
            early = need_no_commit(self.state, fresh, self._replica.read_at)
        with self._changed:
            for waiting in fresh:
                waiting.tried_alone = True
            early = [waiting for waiting in early if waiting in self._queue]  # nobody gave up
            self._queue = [waiting for waiting in self._queue if waiting not in early]
        answer_decided(early)

    def _commit(self, batch: list[Waiting]) -> None:
        """Decides and commits until it lands, or until `ATTEMPTS` are used up; answers each."""
        problem, wait = "another writer was first each time", 0.0
        unknown = Unanswered()
        for attempt in range(ATTEMPTS):
            if attempt:
                _pause(attempt, wait)
                if not self._try_refresh():
                    continue
                unknown.read()
            wait = 0.0
            batch = self._answer_late(self._still_waiting(batch))
            try:
                batch, draft, records = self._decide(batch)
            except StoreUnread as exc:
                problem = str(exc)
                continue
            if not records:
                return answer_decided(batch)
            parent, asked_at = self._replica.head, time.monotonic()
            try:
                head = self._store.append(records, parent)
            except StoreRefused as exc:
                self._is_open = False
                self._trouble = Trouble(True, f"it refuses what is written to it: {exc}")
                problem = str(exc)
                break
            except StoreUncertain as exc:
                problem = str(exc)
                self._budget.note()
                unknown.lost(parent, exc.may_land_yet)
                for waiting in batch:
                    waiting.lost += [waiting.records] if waiting.records else []
                log.warning("the store's answer was lost: %s", problem)
            except StoreError as exc:
                problem, wait = str(exc), exc.wait
                if isinstance(exc, StoreConflict):
                    metrics.CONFLICTS.inc()
            else:
                self._budget.note()
                self._replica.advance(draft, head, asked_at)
                return self._landed(batch)
        return self._end_failed(batch, problem, unknown)

    def _end_failed(self, batch: list[Waiting], problem: str, unknown: Unanswered) -> None:
        """Answers whose commits did not land, or nobody knows whether they did, or will."""
        if unknown.any and self._try_refresh():
            unknown.read()
            batch = self._answer_late(batch)
        error = OutcomeUnknown if unknown.holds(self._replica.head) else NotRecorded
        if error is NotRecorded:
            batch = self._answer_alone(batch)
        if batch:
            said = Trouble(True, f"it did not take the last write: {problem}")
            self._trouble = self._trouble or said
        answer_failed(batch, error(problem=problem))

    def _decide(self, batch: list[Waiting]) -> tuple[list[Waiting], State, list[AnyRecord]]:
        """Decides for each in turn: who is not answered yet, the state after it, its records.

        Nobody decides again whose commit stands in the state that is decided on.

        Raises:
            StoreUnread: somebody is refused, and the store does not say whether that is right.
        """
        draft = decide_all(self.state, batch)
        # a commit that lands shows as well that the state was true
        if not any(waiting.records for waiting in batch) and self._needs_look(batch):
            if not self._look():
                raise StoreUnread(self._problem("it cannot be read"))
            batch = self._answer_late(batch)
            draft = decide_all(self.state, batch)
        return batch, draft, [record for waiting in batch for record in waiting.records]

    def _needs_look(self, batch: list[Waiting]) -> bool:
        """Whether somebody is refused by an old state, or maybe for its own commit's sake."""
        return any(
            waiting.is_refused_unseen(self._replica.read_at) or (waiting.refusal and waiting.lost)
            for waiting in batch
        )

    def _look(self) -> bool:
        """Reads the store for who is refused; whether it could be."""
        time.sleep(max(0.0, self._replica.read_at + _LOOK_SECONDS - time.monotonic()))
        return self._try_refresh()

    def _answer_alone(self, batch: list[Waiting]) -> list[Waiting]:
        """Answers who has nothing to record also without those whose commit failed."""
        alone = need_no_commit(self.state, batch, self._replica.read_at)
        answer_decided(alone)
        return [waiting for waiting in batch if waiting not in alone]

    def _answer_late(self, batch: list[Waiting]) -> list[Waiting]:
        """Answers whose commit stands though its answer was lost; gives the others."""
        landed, others = split_landed(self.state, batch)
        if landed:
            self._landed(landed)
        return others

    def _still_waiting(self, batch: list[Waiting]) -> list[Waiting]:
        """Those whose callers have not given up; from here on they cannot without knowing more."""
        with self._changed:
            batch = [waiting for waiting in batch if not waiting.abandoned]
            for waiting in batch:
                waiting.sent = True
        return batch

    def _landed(self, batch: list[Waiting]) -> None:
        if self._is_open:
            self._trouble = None
        metrics.COMMITS.inc()
        answer_decided(batch)

    def _compact(self) -> None:
        try:
            self._replica.head = self._store.compact(self._replica.head)
            self._budget.note()
            log.info("compacted the store to %d files", self._store.files)
        except StoreError as exc:
            log.warning("the store is not compacted: %s", exc)
            self._compact_after = time.monotonic() + _COMPACT_AGAIN_SECONDS
            self._try_refresh()

    # Reading

    def _try_open(self) -> None:
        """Reads the store and sees that it can be written; `trouble` says where it cannot."""
        try:
            self._store.create()
            self._refresh()
            self._store.sweep()
            self._store.require_writable()
            times = self._store.commit_times()
            self._budget.begin_with([at.timestamp() for at in times])
            self._replica.head_at = times[-1] if times else None
        except StoreRefused as exc:
            self._trouble = Trouble(True, f"it cannot be written to: {exc}")
        except StoreError as exc:
            self._trouble = Trouble(False, f"it cannot be reached: {exc}")
        else:
            self._is_open, self._trouble = True, None
            return
        log.warning("the results store: %s", self._trouble.problem)

    def _try_refresh(self) -> bool:
        try:
            self._refresh()
        except StoreError as exc:
            self._trouble = Trouble(False, f"it cannot be reached: {exc}")
            log.warning("the results store: %s", self._trouble.problem)
            return False
        if self._is_open and self._trouble and not self._trouble.reachable:
            self._trouble = None
        return True

    def _refresh(self) -> None:
        if self._replica.refresh() and self._is_open:
            self._budget.note()  # somebody else's commit spends of the same limit


def _pause(attempt: int, asked: float) -> None:
    """Waits a little longer each time, or as long as the Hub asks, within its patience."""
    pause = random.uniform(0, 0.05 * 2**attempt)  # noqa: S311
    time.sleep(min(max(pause, asked), PATIENCE / ATTEMPTS))
