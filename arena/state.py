"""Records folded, by `seq`, into what is true now.

A `State` that readers hold is never changed: records are folded into a draft of it, which takes its
place once they are committed, and is dropped where the commit was refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import takewhile
from typing import Literal, NamedTuple

from arena.records import (
    AnyRecord,
    ChallengeStateRecord,
    ClaimRecord,
    Fault,
    ReleaseRecord,
    ReplayRecord,
    ReportRecord,
    ReviewRecord,
    RunEventRecord,
    RunRecord,
    SubmissionRecord,
    UnreadRecord,
    ValidationRecord,
    WithdrawalRecord,
)

RunState = Literal["queued", "running", "scored", "accepted", "rejected", "failed", "cancelled"]

_OUT_OF_ORDER = timedelta(hours=1)  # a record may wait for its commit while others overtake it

_MOVES: dict[RunState, frozenset[RunState]] = {
    "queued": frozenset({"running", "failed", "cancelled"}),
    "running": frozenset({"running", "queued", "scored", "failed", "cancelled"}),
    "scored": frozenset({"accepted", "rejected"}),
    "accepted": frozenset({"rejected"}),
    "rejected": frozenset({"accepted"}),
    "failed": frozenset(),
    "cancelled": frozenset(),
}


BY_EDITOR = "cancelled_by_editor"
"""The code of a run's end that an editor brought about, who is no author of it."""


class ImpossibleMove(Exception):
    """Records that contradict what is true: a fault of the code that made them."""


class Answered(NamedTuple):
    """A request that was answered: the record that it made, and the hash of what was asked."""

    record: str
    body: str | None


@dataclass(frozen=True)
class Submission:
    record: SubmissionRecord
    validation: ValidationRecord | None = None
    withdrawal: WithdrawalRecord | None = None
    claims: tuple[ClaimRecord, ...] = ()
    """Settled claims to it or to its content; the last one holds."""

    @property
    def collection(self) -> str | None:
        """The content digest, once it is known."""
        return self.validation.collection if self.validation else None

    @property
    def is_valid(self) -> bool:
        """Whether validation found it valid, which a withdrawal does not change."""
        return self.validation is not None and self.validation.outcome == "valid"

    @property
    def stands(self) -> bool:
        """Whether it is valid and not withdrawn: it may run, be replayed, and rank."""
        return self.is_valid and self.withdrawal is None

    @property
    def is_under_way(self) -> bool:
        """Whether somebody waits for its validation."""
        return self.validation is None and self.withdrawal is None

    @property
    def author(self) -> str:
        """Whose it is: who entered it, unless a claim was settled."""
        return self.claims[-1].author if self.claims else self.record.by

    @property
    def is_anothers(self) -> bool:
        """Whether a claim was settled for somebody else than who entered it."""
        return bool(self.claims) and self.author.lower() != self.record.by.lower()

    @cached_property
    def line(self) -> str:
        """One author at one source address: what is another's leaves the line that it was in."""
        line = self.record.line
        return f"{self.author.lower()} {line}" if self.is_anothers else line

    def is_author(self, user: str) -> bool:
        """Whether `user` has the author's rights over what was submitted."""
        entered = (self.record.by, *self.record.authors)
        names = (self.author,) if self.is_anothers else entered
        return user.lower() in {name.lower() for name in names}


class Attempt(NamedTuple):
    """The time in which one worker had a run; `ended` None: it has it yet."""

    leased: datetime
    ended: datetime | None


@dataclass(frozen=True)
class Run:
    record: RunRecord
    state: RunState = "queued"
    lease: str | None = None
    """Of the worker that has it, or had it last before it ended; None while it waits for one."""
    worker: str | None = None
    events: tuple[RunEventRecord, ...] = ()
    report: ReportRecord | None = None
    reviews: tuple[ReviewRecord, ...] = ()
    release: ReleaseRecord | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether it waits for a worker or a worker has it."""
        return self.state in {"queued", "running"}

    @property
    def failure(self) -> RunEventRecord | None:
        """The event that ended the run without a score."""
        last = self.events[-1] if self.events else None
        return last if last and last.event in {"failed", "cancelled"} else None

    @property
    def requeued(self) -> RunEventRecord | None:
        """That it lost its worker and went back to the queue."""
        return next((event for event in self.events if event.event == "requeued"), None)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The times in which workers had it, in order."""
        begun = [event.at for event in self.events if event.event == "leased"]
        given_up = [event.at for event in self.events if event.event == "requeued"]
        ended = self.report or self.failure
        ends: list[datetime | None] = [*given_up, ended.at if ended else None]
        return tuple(Attempt(*times) for times in zip(begun, ends, strict=False))

    @property
    def doubt(self) -> RunEventRecord | None:
        """That a process hears nothing of its worker, where nothing was recorded since."""
        last = self.events[-1] if self.events else None
        return last if last and last.event == "doubted" else None

    @property
    def fault(self) -> Fault | None:
        return self.failure.fault if self.failure else None

    @property
    def costs_author(self) -> bool:
        """Whether the run counts among those that a collection may have.

        The platform's fault does not. A cancelled one does where its author gave it up once a
        worker had it: who sees how a run goes could else try until one goes well.
        """
        if self.state == "cancelled":
            code = self.failure.code if self.failure else None
            return bool(self.attempts) and code != BY_EDITOR
        return self.fault != "platform"

    def moved(self, to: RunState) -> Run:
        """The run in another state.

        Raises:
            ImpossibleMove: no run goes from its state to that one.
        """
        if to not in _MOVES[self.state]:
            raise ImpossibleMove(f"{self.record.id}: {self.state} → {to}")
        return replace(self, state=to)


@dataclass
class State:
    """What is true after the record `seq`. A value, but for the draft that a ledger folds into."""

    seq: int = 0
    ids: set[str] = field(default_factory=set)
    requests: dict[str, Answered] = field(default_factory=dict)
    submissions: dict[str, Submission] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    challenge_changes: dict[str, tuple[ChallengeStateRecord, ...]] = field(default_factory=dict)
    claims: dict[str, ClaimRecord] = field(default_factory=dict)
    """By content digest: whoever enters that content again, it is the settled author's."""
    replays: dict[str, ReplayRecord] = field(default_factory=dict)
    """By content digest: the same content entered again is proven already."""
    launched: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The runs of each submission."""
    entered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The submissions of each source address."""
    contents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The submissions of each content."""
    unvalidated: dict[str, None] = field(default_factory=dict)
    """The submissions whose validation somebody waits for, in order."""

    @property
    def challenge_states(self) -> dict[str, ChallengeStateRecord]:
        """The last change of each challenge that an editor changed."""
        return {name: changes[-1] for name, changes in self.challenge_changes.items()}

    def apply(self, records: Iterable[AnyRecord]) -> State:
        """The state after `records`, which follow on in `seq`; this one stays as it is.

        Raises:
            ImpossibleMove: a gap in `seq`, an id twice, or a move that no run can make.
        """
        draft = self.draft()
        for record in records:
            draft.fold(record)
        return draft

    def draft(self) -> State:
        """A copy to fold into: one for each commit, whatever number of records is in it."""
        return State(**{each.name: copy(getattr(self, each.name)) for each in fields(self)})

    def fold(self, record: AnyRecord | UnreadRecord) -> None:
        """Folds in the next record, in place; one that is refused changes nothing.

        Raises:
            ImpossibleMove: as `apply`.
        """
        if record.seq != self.seq + 1:
            raise ImpossibleMove(f"{record.id} has seq {record.seq} after {self.seq}")
        if record.id in self.ids:
            raise ImpossibleMove(f"the id {record.id} stands twice")
        try:
            if not isinstance(record, UnreadRecord):
                self._fold(record)
        except KeyError as exc:
            raise ImpossibleMove(f"{record.id} is about {exc}, which is not there") from exc
        self.seq = record.seq
        self.ids.add(record.id)
        if record.request:
            self.requests[record.request] = Answered(record.id, record.request_body)

    def skip(self, seq: int) -> None:
        """Goes past places whose records cannot be read or folded: later ones still count."""
        self.seq = max(self.seq, seq)

    def _fold(self, record: AnyRecord) -> None:
        match record:
            case SubmissionRecord():
                self.submissions[record.id] = Submission(record)
                self.entered[record.line] = (*self.entered.get(record.line, ()), record.id)
                self.unvalidated[record.id] = None
            case ValidationRecord():
                submission = self.submissions[record.submission]
                if submission.validation is not None:
                    raise ImpossibleMove(f"{record.submission} is validated twice")
                claim = self.claims.get(record.collection or "")
                self.submissions[record.submission] = replace(
                    submission,
                    validation=record,
                    claims=(*submission.claims, claim) if claim else submission.claims,
                )
                self.unvalidated.pop(record.submission, None)
                if content := record.collection:
                    same = self.contents.get(content, ())
                    self.contents[content] = (*same, record.submission)
            case WithdrawalRecord():
                submission = self.submissions[record.submission]
                if submission.withdrawal is not None:
                    raise ImpossibleMove(f"{record.submission} is withdrawn twice")
                self.submissions[record.submission] = replace(submission, withdrawal=record)
                self.unvalidated.pop(record.submission, None)
            case ClaimRecord():
                self._settle(record)
            case ReplayRecord():
                if record.collection in self.replays:
                    raise ImpossibleMove(f"{record.collection} is replayed twice")
                self.replays[record.collection] = record
            case RunRecord():
                self.runs[record.id] = Run(record)
                self.launched[record.submission] = (
                    *self.launched.get(record.submission, ()),
                    record.id,
                )
            case RunEventRecord():
                self.runs[record.run] = _after_event(self.runs[record.run], record)
            case ReportRecord():
                run = self.runs[record.run].moved("scored")
                self.runs[record.run] = replace(run, report=record)
            case ReviewRecord():
                run = self.runs[record.run].moved(record.verdict)
                self.runs[record.run] = replace(run, reviews=(*run.reviews, record))
            case ChallengeStateRecord():
                earlier = self.challenge_changes.get(record.challenge, ())
                self.challenge_changes[record.challenge] = (*earlier, record)
            case ReleaseRecord():
                self.runs[record.run] = replace(self.runs[record.run], release=record)

    def _settle(self, claim: ClaimRecord) -> None:
        """Gives a submission, and every one of the same content, to the settled author."""
        if claim.collection:
            self.claims[claim.collection] = claim
        same = self.contents.get(claim.collection or "", ())
        for name in {claim.submission, *same}:
            submission = self.submissions[name]
            self.submissions[name] = replace(submission, claims=(*submission.claims, claim))

    def queue(self, challenge: str | None = None) -> list[Run]:
        """Runs that wait for a worker, first come first."""
        return [
            run
            for run in self.runs.values()
            if run.state == "queued" and challenge in (None, run.record.challenge)
        ]

    def of_address(self, line: str) -> list[Submission]:
        """What was entered from a source address, in order, whoever's it is."""
        return [self.submissions[name] for name in self.entered.get(line, ())]

    def of_content(self, collection: str) -> list[Submission]:
        """Submissions whose validation found that content, in order."""
        return [self.submissions[name] for name in self.contents.get(collection, ())]

    def under_way(self) -> list[Submission]:
        """Submissions whose validation somebody waits for, in order."""
        return [self.submissions[name] for name in self.unvalidated]

    def unreplayed(self) -> dict[str, Submission]:
        """Contents that wait for a replay, oldest first, each with its oldest valid submission."""
        found: dict[str, Submission] = {}
        for submission in self.submissions.values():
            collection = submission.collection
            if submission.stands and collection and collection not in self.replays:
                found.setdefault(collection, submission)
        return found

    def newest_valid(self, line: str) -> Submission | None:
        """The newest valid submission of a line that is not withdrawn."""
        return self.newest_valid_by_line().get(line)

    def newest_valid_by_line(self) -> dict[str, Submission]:
        """`newest_valid` of every line that has one."""
        return {s.line: s for s in self.submissions.values() if s.stands}

    def line_runs(self, line: str, challenge: str) -> list[Run]:
        """Every run of a line on a challenge, in order."""
        return [
            run
            for run in self.runs.values()
            if run.record.challenge == challenge
            and self.submissions[run.record.submission].line == line
        ]

    def runs_of(self, submission: str) -> list[Run]:
        """Every run of a submission, in order."""
        return [self.runs[run] for run in self.launched.get(submission, ())]

    def entered_since(self, when: datetime, user: str | None = None) -> list[Submission]:
        """Submissions entered since `when`, of everybody or of one user, the last one first."""
        lately = takewhile(
            lambda s: s.record.at >= when - _OUT_OF_ORDER, reversed(self.submissions.values())
        )
        return [s for s in lately if s.record.at >= when and user in (None, s.record.by)]


def _after_event(run: Run, event: RunEventRecord) -> Run:
    match event.event:
        case "leased":
            if run.state != "queued":
                raise ImpossibleMove(f"{event.run} is leased while {run.state}")
            run = replace(run.moved("running"), lease=event.lease, worker=event.by)
        case "stage" | "doubted" | "heard":
            run = run.moved("running")
        case "requeued":
            run = replace(run.moved("queued"), lease=None, worker=None)
        case "failed" | "cancelled":
            run = run.moved(event.event)
    return replace(run, events=(*run.events, event))
