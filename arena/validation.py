"""Validation in the background, of what was submitted and of what is only to be looked at.

A submission is recorded before any of this begins, so closing a page or ending the process loses
nothing: what has no validation yet is taken up again at the next start. A check whose source does
not answer gives its thread back and is taken up again when it is time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from arena.challenges import Challenges
from arena.checking import Progress, SourceCheck, Verdict, text_of, validation_record
from arena.commonsindex import CommonsIndex
from arena.editorsnote import EditorsNotes
from arena.errors import (
    ArenaError,
    ComesBack,
    DuplicateCollection,
    IdempotencyMismatch,
    TooFewTasks,
    WaitedTooLong,
)
from arena.ledger import Ledger
from arena.packages import ResourceCaps
from arena.records import AnyRecord, ValidationRecord
from arena.requests import Asked
from arena.sources import PinnedSource, SourceReader
from arena.state import State
from arena.suites import SuiteIndexes
from arena.waits import KeptWaits, Wait, next_wait

log = logging.getLogger(__name__)

KEPT = timedelta(hours=1)
"""How long a validation that enters nothing can be asked for, once it has ended."""


@dataclass
class Unentered:
    """A validation that enters nothing: only in memory, and only for who asked for it."""

    id: str
    by: str
    at: datetime
    pinned: PinnedSource
    challenge: str | None
    progress: Progress
    request: Asked | None = None
    record: ValidationRecord | None = None
    ended_at: datetime | None = None


@dataclass
class _Job:
    """A check that is under way, queued or waiting; `settle` takes what it came to, and ends it."""

    source: str
    caps: ResourceCaps
    settle: Callable[[Verdict, Progress], None]
    progress: Progress = field(default_factory=Progress)
    wait: Wait | None = None
    due: datetime | None = None

    def put_off(self, wait: Wait) -> None:
        """Nothing is done before the wait ends."""
        self.wait, self.due = wait, wait.until
        self.progress.wait(wait.until, wait.reason)


class Validator:
    """Validates sources, two at a time."""

    def __init__(
        self,
        ledger: Ledger,
        sources: SourceReader,
        suites: SuiteIndexes,
        commons: CommonsIndex,
        notes: EditorsNotes,
        challenges: Challenges,
        waits: KeptWaits,
    ) -> None:
        self._ledger = ledger
        self._waits = waits
        self._check = SourceCheck(sources, suites, commons, notes, challenges.arena.collection_size)
        self._challenges = challenges
        self._caps = challenges.training_caps()
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="validation")
        self._jobs: dict[str, _Job] = {}
        self._unentered: dict[str, Unentered] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def take_up(self) -> None:
        """Enqueues what has no validation and is not under way, and what has waited its time.

        Submissions of an ended process are among it, and those whose validation the store did
        not take. What waited in an ended process waits on, as long as it would have.
        """
        for submission in self._ledger.state.under_way():
            self.enqueue(submission.record.id)
        now = datetime.now(UTC)
        with self._lock:
            due = [name for name, job in self._jobs.items() if job.due and job.due <= now]
            for name in due:
                self._jobs[name].due = None
                self._submit(name)
            for old in [u for u in self._unentered.values() if u.ended_at]:
                if old.ended_at and old.ended_at + KEPT < now:
                    del self._unentered[old.id]

    def enqueue(self, submission: str) -> None:
        """Validates a recorded submission in the background, once at a time."""
        source = self._ledger.state.submissions[submission].record.source

        def settle(verdict: Verdict, progress: Progress) -> None:
            record = validation_record(submission, verdict, progress)
            # it ends once its commit has landed, and no thread waits for that
            self._record(submission, record).add_done_callback(
                lambda recorded: self._ended(submission, recorded.exception())
            )

        job = _Job(source, self._caps, settle)
        if wait := self._waits.of(submission):
            job.put_off(wait)
        self._add(submission, job)

    def try_out(
        self,
        id_: str,
        by: str,
        pinned: PinnedSource,
        challenge: str | None,
        request: Asked | None = None,
    ) -> Unentered:
        """Validates a source in the background, and enters nothing.

        The same request has the validation that it had; it is asked for by `answer_of` first,
        before it costs a site anything.
        """

        def settle(verdict: Verdict, progress: Progress) -> None:
            record = validation_record(id_, verdict, progress)
            record = self._unless_too_few(record, challenge)
            line = pinned.source.line
            tried.record = _unless_duplicate(self._ledger.state, line, record)
            tried.ended_at = datetime.now(UTC)
            self._ended(id_)

        caps = self._challenges.training_caps(challenge) if challenge else self._caps
        job = _Job(str(pinned), caps, settle)
        tried = Unentered(id_, by, datetime.now(UTC), pinned, challenge, job.progress, request)
        with self._lock:
            if before := self._of_request(request):
                return before
            self._unentered[id_] = tried
        self._add(id_, job)
        return tried

    def answer_of(self, request: Asked | None) -> Unentered | None:
        """The validation that enters nothing which the same request got.

        Raises:
            IdempotencyMismatch: the key came with another body.
        """
        with self._lock:
            found = self._of_request(request)
        if found and found.request != request:
            raise IdempotencyMismatch(record=found.id)
        return found

    def _of_request(self, request: Asked | None) -> Unentered | None:
        """By its key; the lock is held."""
        if request is None:
            return None
        for kept in self._unentered.values():
            if kept.request and kept.request.request == request.request:
                return kept
        return None

    def tried_out(self, id_: str) -> Unentered | None:
        """A validation that enters nothing, while it is kept."""
        return self._unentered.get(id_)

    def tried(self) -> list[Unentered]:
        """The validations of the last hour that enter nothing, but for those that failed."""
        with self._lock:
            kept = list(self._unentered.values())
        return [u for u in kept if u.record is None or u.record.outcome != "failed"]

    def trying_out(self, by: str) -> int:
        """How many of a user's validations that enter nothing have not ended."""
        with self._lock:
            return sum(u.by == by and u.ended_at is None for u in self._unentered.values())

    def progress(self, submission: str) -> Progress:
        """How far the validation of `submission` is."""
        job = self._jobs.get(submission)
        return job.progress if job else Progress()

    def close(self) -> None:
        """Ends after what is under way; the rest is taken up at the next start."""
        self._closing.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _add(self, name: str, job: _Job) -> None:
        with self._lock:
            if name not in self._jobs:
                self._jobs[name] = job
                if job.due is None:
                    self._submit(name)

    def _submit(self, name: str) -> None:
        """Gives a job to the threads; the lock is held."""
        if self._closing.is_set():
            del self._jobs[name]
        else:
            self._pool.submit(self._run, name)

    def _run(self, name: str) -> None:
        job = self._jobs[name]
        try:
            verdict = self._check.run(job.source, job.caps, job.progress)
        except ComesBack as exc:
            if self._put_off(name, job, exc):
                return
            verdict = Verdict("failed", error=_waited_too_long(exc))
        except Exception:
            log.exception("the validation of %s met a fault", name)
            verdict = Verdict("failed", error=ArenaError())
        if verdict.outcome == "failed" and self._closing.is_set():
            self._jobs.pop(name, None)  # the next process takes it up
            return
        try:
            job.settle(verdict, job.progress)
        except Exception as exc:
            self._ended(name, exc)

    def _ended(self, name: str, error: BaseException | None = None) -> None:
        """A job is done; where what it came to was not recorded, `take_up` begins anew."""
        if isinstance(error, ArenaError):
            log.warning("the validation of %s was not recorded: %s", name, error.code)
        elif error:
            log.error("the validation of %s was not recorded", name, exc_info=error)
        else:
            self._waits.end(name)
        self._jobs.pop(name, None)

    def _put_off(self, name: str, job: _Job, error: ComesBack) -> bool:
        """Puts a job off, and its thread is free; False where it has waited long enough."""
        wait = next_wait(name, job.wait, error)
        if wait is None:
            return False
        if name in self._ledger.state.submissions:  # the others end with the process
            self._waits.keep(wait)
        job.put_off(wait)
        return True

    def _unless_too_few(self, record: ValidationRecord, challenge: str | None) -> ValidationRecord:
        """The validation, or its refusal where the challenge's gate would refuse it."""
        needed = self._challenges.challenges[challenge].gates.min_tasks if challenge else 0
        if record.outcome == "valid" and len(record.packages) < needed:
            tasks = len(record.packages)
            return _refused(record, TooFewTasks(challenge=challenge, needed=needed, tasks=tasks))
        return record

    def _record(self, submission: str, validation: ValidationRecord) -> Future[list[AnyRecord]]:
        def decide(state: State) -> list[AnyRecord]:
            own = state.submissions[submission]
            if own.validation is not None:
                return []
            return [_unless_duplicate(state, own.line, validation)]

        return self._ledger.enqueue(decide)


def _unless_duplicate(state: State, line: str, validation: ValidationRecord) -> ValidationRecord:
    """The validation, or its refusal where another line has the same content already."""
    for other in state.of_content(validation.collection or ""):
        if validation.outcome == "valid" and other.is_valid and other.line != line:
            name, author = other.record.id, other.author
            return _refused(validation, DuplicateCollection(submission=name, author=author))
    return validation


def _refused(validation: ValidationRecord, error: ArenaError) -> ValidationRecord:
    return validation.model_copy(
        update={"outcome": "invalid", "code": error.code, "reason": text_of(error)}
    )


def _waited_too_long(error: ComesBack) -> WaitedTooLong:
    hours = round(error.patience.total_seconds() / 3600)
    waited = f"{hours} hour" + "s" * (hours != 1)
    return WaitedTooLong(waited=waited, problem=error.message)
