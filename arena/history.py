"""Every record that touched a submission, a run, a challenge or a content: who, when, what, why.

Gathered from the state, which keeps the records anyway. Only what everybody may read is taken of
each: no lease, no report, nothing that is for reviewers alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from arena.errors import UnknownId
from arena.figures import pp
from arena.records import (
    AnyRecord,
    ChallengeStateRecord,
    ClaimRecord,
    ReleaseRecord,
    ReplayRecord,
    ReportRecord,
    ReviewRecord,
    RunEventRecord,
    RunRecord,
    SubmissionRecord,
    ValidationRecord,
    WithdrawalRecord,
)
from arena.state import Run, State, Submission


class HistoryRow(BaseModel):
    """One record: who made it, when (UTC), what it says, why."""

    model_config = ConfigDict(frozen=True)

    seq: int
    at: datetime
    by: str
    kind: str
    record: str
    what: str
    reason: str | None


def history(state: State, name: str, challenges: frozenset[str]) -> list[HistoryRow]:
    """The records that touched what has that id or content digest, first to last.

    Raises:
        UnknownId.
    """
    found = {record.seq: record for record in _records(state, name, challenges)}
    return [_row(found[seq]) for seq in sorted(found)]


def _records(state: State, name: str, challenges: frozenset[str]) -> Iterator[AnyRecord]:
    if submission := state.submissions.get(name):
        yield from _of_submission(state, submission)
    elif run := state.runs.get(name):
        yield from _of_run(run)
        if withdrawal := state.submissions[run.record.submission].withdrawal:
            yield withdrawal
    elif name in challenges:
        yield from state.challenge_changes.get(name, ())
    else:
        same = state.of_content(name)
        if not same:
            raise UnknownId(id=repr(name[:80]))
        for submission in same:
            yield from _of_submission(state, submission)


def _of_submission(state: State, submission: Submission) -> Iterator[AnyRecord]:
    yield submission.record
    yield from submission.claims
    for record in (submission.validation, submission.withdrawal):
        if record:
            yield record
    if replay := state.replays.get(submission.collection or ""):
        yield replay
    for run in state.runs_of(submission.record.id):
        yield from _of_run(run)


def _of_run(run: Run) -> Iterator[AnyRecord]:
    yield run.record
    yield from run.events
    yield from run.reviews
    for record in (run.report, run.release):
        if record:
            yield record


def _row(record: AnyRecord) -> HistoryRow:
    return HistoryRow(
        seq=record.seq,
        at=record.at,
        by=record.by,
        kind=record.kind,
        record=record.id,
        what=_what(record),
        reason=getattr(record, "reason", None),
    )


def _what(record: AnyRecord) -> str:
    match record:
        case SubmissionRecord():
            return f"entered as {record.id}"
        case ValidationRecord():
            return f"{record.submission} is {record.outcome}" + _code(record.code)
        case WithdrawalRecord():
            return f"{record.submission} withdrawn"
        case ClaimRecord():
            return f"{record.submission} settled to be {record.author}'s"
        case ReplayRecord():
            proven = sum(row.verdict == "proven" for row in record.packages)
            return f"replayed: {proven} of {len(record.packages)} oracles proven"
        case RunRecord():
            return f"{record.id} launched on {record.challenge}"
        case RunEventRecord():
            return _event(record)
        case ReportRecord():
            return f"{record.run} scored: {pp(record.change_pp)} pp"
        case ReviewRecord():
            return f"{record.run} {record.verdict}"
        case ChallengeStateRecord():
            return f"{record.challenge} {record.state}"
        case ReleaseRecord():
            return f"released as {record.repo}/{record.folder}"


def _event(record: RunEventRecord) -> str:
    match record.event:
        case "leased":
            return f"{record.run} leased"
        case "stage":
            return f"{record.run}: {record.stage} ended"
        case "doubted":
            return f"{record.run}: nothing is heard of its worker"
        case "heard":
            return f"{record.run}: its worker is heard of"
        case "requeued":
            return f"{record.run} back to the queue" + _code(record.code)
        case "failed":
            return f"{record.run} failed by the {record.fault}'s fault" + _code(record.code)
        case "cancelled":
            return f"{record.run} cancelled"


def _code(code: str | None) -> str:
    return f" ({code})" if code else ""
