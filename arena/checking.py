"""The arena's check of a pinned source: fetch → structure → near copies → a verdict.

Text is read, never executed. Where the source does not answer now, nothing is said of it: the
check is done again later, and what was fetched by then is kept.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from arena.challenges import CollectionSize
from arena.commonsindex import CommonsIndex
from arena.editorsnote import EditorsNotes, note_of
from arena.errors import ArenaError, ComesBack, NearCopy, SubpathNotFound
from arena.nearcopies import METHOD, Comparison, compare
from arena.packages import Collection, CollectionReport, ResourceCaps, check_collection
from arena.packages.findings import RULES_VERSION, Finding
from arena.records import (
    CopyRow,
    FindingRow,
    Outcome,
    PackageRow,
    PassageRow,
    StageRow,
    TwinRow,
    ValidationRecord,
    new_id,
)
from arena.sources import PinnedSource, RefusedSource, SourceReader
from arena.suites import SuiteIndexes

SubmissionState = Literal[
    "queued", "fetching", "waiting", "checking", "comparing", "valid", "invalid", "failed"
]
MAX_FINDINGS = 500  # of all packages, in one record; each package has its own limit
BY = "arena"


@dataclass
class Progress:
    """How far a check is; kept in memory only."""

    state: SubmissionState = "queued"
    stages: list[StageRow] = field(default_factory=list)
    waiting_until: datetime | None = None
    waits_for: str | None = None

    def wait(self, until: datetime, reason: str) -> None:
        """The check is to be done again from its beginning."""
        self.state, self.waiting_until, self.waits_for = "waiting", until, reason
        self.stages = []


class Verdict(NamedTuple):
    """What a check came to."""

    outcome: Outcome
    report: CollectionReport | None = None
    collection: Collection | None = None
    error: ArenaError | None = None
    finding: Finding | None = None
    alike: Comparison | None = None
    for_editors: str = ""


class SourceCheck:
    """Checks pinned sources."""

    def __init__(
        self,
        sources: SourceReader,
        suites: SuiteIndexes,
        commons: CommonsIndex,
        notes: EditorsNotes,
        size: CollectionSize,
    ) -> None:
        self._sources = sources
        self._suites = suites
        self._commons = commons
        self._notes = notes
        self._size = size

    def run(self, source: str, caps: ResourceCaps, progress: Progress) -> Verdict:
        """Checks a source from the beginning.

        Raises:
            ComesBack: the source, or an index, cannot be read now.
        """
        with tempfile.TemporaryDirectory(prefix="arena-") as folder:
            try:
                return self._run(PinnedSource.parse(source), Path(folder), caps, progress)
            except RefusedSource as exc:
                return Verdict("invalid", finding=exc.finding)
            except SubpathNotFound as exc:
                return Verdict("invalid", error=exc)
            except ComesBack:
                raise
            except ArenaError as exc:
                return Verdict("failed", error=exc)

    def _run(
        self, pinned: PinnedSource, folder: Path, caps: ResourceCaps, progress: Progress
    ) -> Verdict:
        with _stage(progress, "fetching"):
            self._sources.fetch(pinned, folder)
        with _stage(progress, "checking"):
            report = check_collection(folder, self._size.min, self._size.max, caps)
        if report.collection is None:
            return Verdict("invalid", report)
        with _stage(progress, "comparing"):
            return self._compare(pinned.source.line, report, report.collection)

    def _compare(self, line: str, report: CollectionReport, collection: Collection) -> Verdict:
        indexes, accepted = self._suites.all(), self._commons.current()
        roots = [package.root for package in collection.packages]
        alike = compare(roots, list(indexes.values()), accepted.tasks)
        note = note_of(alike, list(indexes), accepted.originals, line, len(roots))
        sealed = self._notes.seal(note)
        if alike.copies:
            names = sorted({near.package for near in alike.copies})
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            error = NearCopy(packages=", ".join(names[:3]) + more)
            return Verdict("invalid", report, error=error, alike=alike, for_editors=sealed)
        return Verdict("valid", report, collection, alike=alike, for_editors=sealed)


def validation_record(subject: str, verdict: Verdict, progress: Progress) -> ValidationRecord:
    """A verdict as the record of it; `subject` is what was checked."""
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
        submission=subject,
        outcome=verdict.outcome,
        code=error.code if error else ("findings" if verdict.outcome == "invalid" else None),
        reason=text_of(error) if error else None,
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
        near_copies=METHOD,
        copies=_copy_rows(verdict.alike),
        twins=_twin_rows(verdict.alike),
        for_editors=verdict.for_editors,
    )


def _copy_rows(alike: Comparison | None) -> list[CopyRow]:
    """The copies as their author sees them: own lines, the similarity to one place, no task."""
    return [
        CopyRow(
            package=near.package,
            part=near.likeness.part,
            similarity=round(near.likeness.similarity, 1),
            threshold=near.likeness.threshold,
            passages=[PassageRow(**passage._asdict()) for passage in near.passages],
        )
        for near in (alike.copies if alike else [])
    ]


def _twin_rows(alike: Comparison | None) -> list[TwinRow]:
    return [
        TwinRow(
            package=twins.package,
            other=twins.other,
            part=twins.likeness.part,
            similarity=round(twins.likeness.similarity, 1),
        )
        for twins in (alike.twins[:MAX_FINDINGS] if alike else [])
    ]


def text_of(error: ArenaError) -> str:
    """An error as the reason in a record."""
    return f"{error.message} {error.next}"


def _finding_row(package: str, finding: Finding) -> FindingRow:
    return FindingRow(package=package, **finding.model_dump())


@contextmanager
def _stage(progress: Progress, state: SubmissionState) -> Iterator[None]:
    progress.state = state
    started = time.monotonic()
    try:
        yield
    finally:
        seconds = round(time.monotonic() - started, 3)
        progress.stages.append(StageRow(stage=state, seconds=seconds))
