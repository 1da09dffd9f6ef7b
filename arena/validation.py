"""Validation in the background: fetch → structure → near copies → a record.

The submission is recorded before any of this begins, so closing a page or ending the process
loses nothing: what has no validation yet is taken up again at the next start.
"""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from arena.challenges import Challenges
from arena.errors import ArenaError, DuplicateCollection, HubUnavailable, NearCopy
from arena.ledger import Ledger
from arena.nearcopies import COMPARED, SealedIndex
from arena.packages import Collection, CollectionReport, check_collection
from arena.packages.findings import RULES_VERSION, Finding
from arena.records import (
    AnyRecord,
    FindingRow,
    Outcome,
    PackageRow,
    StageRow,
    ValidationRecord,
    new_id,
)
from arena.sources import HubSource, PinnedSource, RefusedSource, parse_source
from arena.state import State, Submission

log = logging.getLogger(__name__)

SubmissionState = Literal[
    "queued", "fetching", "waiting", "checking", "comparing", "valid", "invalid", "failed"
]
FETCH_ATTEMPTS = 4
MAX_FINDINGS = 500  # of all packages, in one record; each package has its own limit
BY = "arena"


@dataclass
class Progress:
    """How far a validation is; kept in memory only."""

    state: SubmissionState = "queued"
    stages: list[StageRow] = field(default_factory=list)


class _Verdict(NamedTuple):
    outcome: Outcome
    report: CollectionReport | None = None
    collection: Collection | None = None
    error: ArenaError | None = None
    finding: Finding | None = None


class Validator:
    """Validates submissions, two at a time."""

    def __init__(
        self,
        ledger: Ledger,
        hub: HubSource,
        indexes: Callable[[], list[SealedIndex]],
        challenges: Challenges,
    ) -> None:
        self._ledger = ledger
        self._hub = hub
        self._indexes = indexes
        self._size = challenges.arena.collection_size
        self._caps = challenges.training_caps()
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="validation")
        self._progress: dict[str, Progress] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def take_up(self) -> None:
        """Enqueues every submission that has no validation and is not under way.

        Those of an ended process, and those whose validation the store did not take.
        """
        for submission in list(self._ledger.state.submissions.values()):
            if submission.validation is None:
                self.enqueue(submission.record.id)

    def enqueue(self, submission: str) -> None:
        """Validates a recorded submission in the background, once at a time."""
        with self._lock:
            if submission in self._progress or self._closing.is_set():
                return
            self._progress[submission] = Progress()
        self._pool.submit(self._run, submission)

    def progress(self, submission: str) -> Progress:
        """How far the validation of `submission` is."""
        return self._progress.get(submission, Progress())

    def close(self) -> None:
        """Ends after what is under way; the rest is taken up at the next start."""
        self._closing.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, submission: str) -> None:
        progress = self._progress[submission]
        source = self._ledger.state.submissions[submission].record.source
        try:
            verdict = self._validate(source, progress)
            if verdict.outcome == "failed" and self._closing.is_set():
                return  # cut short by the end of this process: the next one takes it up
            self._record(submission, verdict, progress)
        except ArenaError as exc:
            log.warning("the validation of %s was not recorded: %s", submission, exc.code)
        except Exception:
            log.exception("the validation of %s met a fault", submission)
            self._record(submission, _Verdict("failed", error=ArenaError()), progress)
        finally:
            self._progress.pop(submission, None)

    def _validate(self, source: str, progress: Progress) -> _Verdict:
        address = parse_source(source)
        with tempfile.TemporaryDirectory(prefix="arena-") as folder:
            try:
                with _stage(progress, "fetching"):
                    self._fetch(PinnedSource(address, address.revision), Path(folder), progress)
                with _stage(progress, "checking"):
                    report = check_collection(
                        Path(folder), self._size.min, self._size.max, self._caps
                    )
                if report.collection is None:
                    return _Verdict("invalid", report)
                with _stage(progress, "comparing"):
                    self._compare(report.collection)
                return _Verdict("valid", report, report.collection)
            except RefusedSource as exc:
                return _Verdict("invalid", finding=exc.finding)
            except NearCopy as exc:
                return _Verdict("invalid", report, error=exc)
            except ArenaError as exc:
                return _Verdict("failed", error=exc)

    def _fetch(self, pinned: PinnedSource, folder: Path, progress: Progress) -> None:
        """Fetches, waiting where the Hub is out of reach; bounded, since somebody waits."""
        for attempt in range(FETCH_ATTEMPTS):
            try:
                self._hub.fetch(pinned, folder)
                return
            except HubUnavailable:
                if attempt == FETCH_ATTEMPTS - 1 or self._closing.is_set():
                    raise
                progress.state = "waiting"
                self._closing.wait(2**attempt)
                progress.state = "fetching"

    def _compare(self, collection: Collection) -> None:
        indexes = self._indexes()
        for package in collection.packages:
            if any(index.holds(package.root) for index in indexes):
                raise NearCopy(package=package.name, similarity="1.0", compared=COMPARED)

    def _record(self, submission: str, verdict: _Verdict, progress: Progress) -> None:
        validation = _validation_record(submission, verdict, progress)

        def decide(state: State) -> list[AnyRecord]:
            own = state.submissions[submission]
            if own.validation is not None:
                return []
            return [_unless_duplicate(state, own, validation)]

        self._ledger.transact(decide)


def _unless_duplicate(
    state: State, own: Submission, validation: ValidationRecord
) -> ValidationRecord:
    """The validation, or its refusal where another line has the same content already."""
    for other in state.submissions.values():
        same = other.is_valid and other.collection == validation.collection
        if validation.outcome == "valid" and same and other.record.line != own.record.line:
            error = DuplicateCollection(submission=other.record.id, author=other.record.by)
            return validation.model_copy(
                update={"outcome": "invalid", "code": error.code, "reason": _text(error)}
            )
    return validation


def _validation_record(submission: str, verdict: _Verdict, progress: Progress) -> ValidationRecord:
    report, collection, error = verdict.report, verdict.collection, verdict.error
    findings = [_finding_row("", verdict.finding)] if verdict.finding else []
    if report:
        findings += [_finding_row("", f) for f in report.findings]
        findings += [_finding_row(p.name, f) for p in report.packages for f in p.findings]
    findings.sort(key=lambda finding: finding.severity != "error")
    packages = report.packages if report else []
    return ValidationRecord(
        id=new_id(ValidationRecord.prefix),
        by=BY,
        submission=submission,
        outcome=verdict.outcome,
        code=error.code if error else ("findings" if verdict.outcome == "invalid" else None),
        reason=_text(error) if error else None,
        collection=collection.digest if collection else None,
        packages=[
            PackageRow(
                name=p.name,
                domain=p.package.domain if p.package else "",
                licence=(collection.licences[p.name] if collection else ""),
            )
            for p in packages
        ],
        findings=findings[:MAX_FINDINGS],
        stages=progress.stages,
        rules=RULES_VERSION,
        near_copies=COMPARED,
    )


def _finding_row(package: str, finding: Finding) -> FindingRow:
    return FindingRow(package=package, **finding.model_dump())


def _text(error: ArenaError) -> str:
    return f"{error.message} {error.next}"


@contextmanager
def _stage(progress: Progress, state: SubmissionState) -> Iterator[None]:
    progress.state = state
    started = time.monotonic()
    try:
        yield
    finally:
        seconds = round(time.monotonic() - started, 3)
        progress.stages.append(StageRow(stage=state, seconds=seconds))
