"""What is taken back, judged and settled: each a decision on a state, and the records it makes.

Nothing here acts: the ledger may ask each again, on a newer state. When a collection may be entered
is in entry.py, when a run is launched in runs/launch.py.
"""

from __future__ import annotations

from arena.challenges import Challenge, Challenges
from arena.errors import (
    AlreadyReviewed,
    AlreadySettled,
    BadRequest,
    NotCancellable,
    NotReviewable,
    NotWithdrawable,
    NotYours,
    OwnCollection,
    SameState,
    Withdrawn,
)
from arena.identity import Identity, is_editor, require_editor
from arena.queries import is_author_of, run_of, submission_of
from arena.records import (
    AnyRecord,
    ChallengeStateRecord,
    ClaimRecord,
    ReviewRecord,
    RunEventRecord,
    Verdict,
    WithdrawalRecord,
    new_id,
)
from arena.requests import reason_text
from arena.runs.launch import reason_of, state_of
from arena.sources import is_name
from arena.state import BY_EDITOR, State, Submission

_REVIEWABLE = frozenset({"scored", "accepted", "rejected"})


def require_rights(who: Identity, own: Submission, challenges: Challenges, challenge: str) -> None:
    """Raises NotYours where `who` is neither an author nor an editor of the challenge."""
    found = challenges.challenges.get(challenge)
    if not is_author_of(who, own) and not is_editor(who, challenges.arena, found):
        raise _not_yours(who, own)


def withdrawal(state: State, who: Identity, submission: str, reason: str) -> list[AnyRecord]:
    """The withdrawal, and the end of each run that waits or is under way."""
    own = submission_of(state, submission)
    if not is_author_of(who, own):
        raise _not_yours(who, own)
    if gone := own.withdrawal:
        raise Withdrawn(submission=submission, by=gone.by, reason=gone.reason)
    if own.validation is not None and not own.is_valid:
        raise NotWithdrawable(submission=submission, state=own.validation.outcome)
    record = WithdrawalRecord(
        id=new_id(WithdrawalRecord.prefix),
        by=who.user,
        submission=submission,
        reason=reason_text(reason),
    )
    ended = [run for run in state.runs_of(submission) if run.is_under_way]
    why = f"Its collection was withdrawn: {record.reason}"
    return [record, *(_cancelled(who, run.record.id, "withdrawn", why) for run in ended)]


def cancellation(
    state: State, challenges: Challenges, who: Identity, run: str, reason: str
) -> list[AnyRecord]:
    """The end of a run that waits or is under way."""
    found = run_of(state, run)
    own = submission_of(state, found.record.submission)
    require_rights(who, own, challenges, found.record.challenge)
    if not found.is_under_way:
        raise NotCancellable(run=run, state=found.state)
    code = "cancelled" if is_author_of(who, own) else BY_EDITOR
    return [_cancelled(who, run, code, reason_text(reason))]


def review(
    state: State, challenges: Challenges, who: Identity, run: str, verdict: Verdict, reason: str
) -> list[AnyRecord]:
    """An editor's verdict on a result that is not their own."""
    found = run_of(state, run)
    challenge = challenges.challenges.get(found.record.challenge)
    require_editor(who, challenges.arena, challenge)
    own = submission_of(state, found.record.submission)
    if is_author_of(who, own):
        raise OwnCollection(user=who.user)
    if found.state == verdict:
        last = found.reviews[-1]
        raise AlreadyReviewed(run=run, verdict=verdict, by=last.by, reason=last.reason)
    if found.state not in _REVIEWABLE:
        raise NotReviewable(run=run, state=found.state)
    if verdict == "accepted" and (gone := own.withdrawal):
        raise Withdrawn(submission=own.record.id, by=gone.by, reason=gone.reason)
    id_ = new_id(ReviewRecord.prefix)
    reason = reason_text(reason)
    return [ReviewRecord(id=id_, by=who.user, run=run, verdict=verdict, reason=reason)]


def claim(
    state: State, challenges: Challenges, who: Identity, submission: str, author: str, reason: str
) -> list[AnyRecord]:
    """An editor's word whose a submission is: not about their own, nor in their favour."""
    own = submission_of(state, submission)
    require_editor(who, challenges.arena)
    if not is_name(author):
        raise BadRequest(problem="author: this is no name that a Hub user could have")
    if is_author_of(who, own) or author.lower() == who.user.lower():
        raise OwnCollection(user=who.user)
    if own.claims and own.author.lower() == author.lower():
        raise AlreadySettled(submission=submission, author=own.author)
    return [
        ClaimRecord(
            id=new_id(ClaimRecord.prefix),
            by=who.user,
            submission=submission,
            collection=own.collection,
            author=author,
            reason=reason_text(reason),
        )
    ]


def challenge_state(
    state: State, who: Identity, challenge: Challenge, to: str, reason: str
) -> list[AnyRecord]:
    """Another state of a challenge; `to` is one of them."""
    if state_of(state, challenge) == to:
        current = reason_of(state, challenge)
        raise SameState(challenge=challenge.id, state=to, reason=current)
    return [
        ChallengeStateRecord.model_validate(
            {
                "id": new_id(ChallengeStateRecord.prefix),
                "by": who.user,
                "challenge": challenge.id,
                "state": to,
                "reason": reason_text(reason),
            }
        )
    ]


def _not_yours(who: Identity, own: Submission) -> NotYours:
    owner = own.author if own.is_anothers else own.record.owner
    return NotYours(source=own.record.source, owner=owner, user=who.user)


def _cancelled(who: Identity, run: str, code: str, reason: str) -> RunEventRecord:
    return RunEventRecord(
        id=new_id(RunEventRecord.prefix),
        by=who.user,
        run=run,
        event="cancelled",
        code=code,
        reason=reason,
    )
