"""Every error a user can meet: a code, what is wrong, and the next step.

One class a code. The page, the API and the command line show the same three texts; nothing else
reaches a user. Values are put into the texts by `str.format`, so what a user wrote is never read
as a format.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import ClassVar


class ArenaError(Exception):
    """What a user did not get, and why."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    text: ClassVar[str] = "The arena met a fault of its own."
    advice: ClassVar[str] = "Try again; if it stays, report it with the time and the address."

    def __init__(self, **facts: object) -> None:
        self.message = self.text.format(**facts)
        self.next = self.advice.format(**facts)
        super().__init__(f"{self.code}: {self.message}")

    def as_dict(self) -> dict[str, str]:
        """The shape of an error in every answer."""
        return {"code": self.code, "message": self.message, "next": self.next}


class BadRequest(ArenaError):
    code, status = "bad_request", 400
    text = "{problem}"
    advice = "Mend the field and send it again; /openapi.json lists every field."


class ReasonRequired(ArenaError):
    code, status = "reason_required", 400
    text = "This needs a reason of 1 to 1,000 characters; it is recorded and shown."
    advice = "Write why, in a sentence."


class IdempotencyMismatch(ArenaError):
    code, status = "idempotency_mismatch", 422
    text = "This Idempotency-Key came before, with something else asked for; that made {record}."
    advice = "Send a new key with a new request; the same key repeats the same request alone."


class SignInRequired(ArenaError):
    code, status = "sign_in_required", 401
    text = "This needs to know who you are, and you are not signed in."
    advice = "Sign in with Hugging Face, or send a token (HF_TOKEN on the command line)."


class InvalidToken(ArenaError):
    code, status = "invalid_token", 401
    text = "The Hub does not know this token, or it has expired."
    advice = "Sign in again, or make a new token in your Hub settings."


class NotEditor(ArenaError):
    code, status = "not_editor", 403
    text = "{user} is no editor of {challenge}."
    advice = "Ask a member of the organization {organization} with write or admin role to do it."


class WeakToken(ArenaError):
    code, status = "weak_token", 403
    text = "Reviews and challenge states need a token with the write role; this one has {role}."
    advice = "Use the web page, or a user token with the write role."


class NotWorker(ArenaError):
    code, status = "not_worker", 403
    text = "{user} is no worker of this arena."
    advice = "Workers are named in challenges/arena.yaml."


class NotYours(ArenaError):
    code, status = "not_yours", 403
    text = "{source} belongs to {owner}; {user} has no author's rights over it."
    advice = (
        "Submit it as {owner} or as a member of that organization, or let its owner add "
        "`members: [{user}]` to submission.yaml at that revision."
    )


class NotNamed(NotYours):
    text = "{user} has no author's rights over {source}: its `members` do not name {user}."
    advice = (
        "Let its owner add `members: [{user}]` to submission.yaml on a branch of the repository "
        "(a pull request alone does not count), and submit that commit."
    )


class OwnCollection(ArenaError):
    code, status = "own_collection", 403
    text = "{user} is an author of this collection, and nobody reviews their own."
    advice = "Ask another editor."


class BadSource(ArenaError):
    code, status = "bad_source", 400
    text = "{source} is no address of a collection: {problem}."
    advice = (
        "Write hf:OWNER/NAME@REVISION or github:OWNER/NAME@REVISION, with :SUBPATH at the end "
        "where it is not the root."
    )


class SourceNotFound(ArenaError):
    code, status = "source_not_found", 404
    text = "There is no public {kind} {repo}."
    advice = "Check the spelling; a private one has to be made public first."


class SourceMoved(ArenaError):
    code, status = "source_moved", 409
    text = "{repo} has moved to {new}."
    advice = "Use the address that it has now, {address}."


class SourceDisabled(ArenaError):
    code, status = "source_disabled", 403
    text = "{site} has disabled the {kind} {repo}, so nobody can read it."
    advice = "Its page there says why; put the collection into another repository."


class SourceGated(ArenaError):
    code, status = "source_gated", 403
    text = "The dataset {repo} is gated, so what is accepted could not be released openly."
    advice = "Turn gating off in the dataset's settings, then submit again."


class RevisionNotFound(ArenaError):
    code, status = "revision_not_found", 404
    text = "{repo} has no revision {revision}."
    advice = "Use a commit, branch or tag that exists; the repository's history lists them."


class SubpathNotFound(ArenaError):
    code, status = "subpath_not_found", 404
    text = "{repo} has no folder {subpath} at {revision}."
    advice = "Check what follows the last ':' of the address: the folder that holds the packages."


class ComesBack(ArenaError):
    """A source that will answer later: a check of it waits, and goes on by itself."""

    patience: ClassVar[timedelta] = timedelta(hours=1)
    """How long a check waits in all."""
    until: datetime | None = None
    """When it is worth asking again, where that is known."""


class HubUnavailable(ComesBack):
    code, status = "hub_unavailable", 503
    text = "The Hub did not answer: {problem}."
    advice = "Nothing was entered; try again in a minute."


class SuiteIndexUnusable(ComesBack):
    code, status = "suite_index_unusable", 503
    text = "The sealed index of {challenge} can't be used: {problem}."
    advice = "The organizers seal the suite again (`arena suite seal`); until then nothing runs."
    patience = timedelta(hours=24)


class GitHubUnavailable(ComesBack):
    code, status = "github_unavailable", 503
    text = "GitHub did not answer: {problem}."
    advice = "Nothing was entered; try again in a minute."


class SourceLimited(ComesBack):
    code, status = "source_limited", 503
    text = "{site} answers no more of the arena's requests until {when} UTC."
    advice = "All authors share this limit. Nothing was entered; try again then."
    patience = timedelta(hours=24)

    def __init__(self, site: str, until: datetime) -> None:
        super().__init__(site=site, when=f"{until.astimezone(UTC):%Y-%m-%d %H:%M:%S}")
        self.until = until


class WaitedTooLong(ArenaError):
    code, status = "waited_too_long", 503
    text = "This waited {waited} in vain. The last answer: {problem}"
    advice = "It is no fault of the collection: submit it again once its source can be read."


class UnknownChallenge(ArenaError):
    code, status = "unknown_challenge", 404
    text = "There is no challenge {challenge}."
    advice = "`arena challenges` lists them."


class UnknownSubmission(ArenaError):
    code, status = "unknown_submission", 404
    text = "There is no submission {submission}."
    advice = "`arena status` lists yours."


class UnknownValidation(ArenaError):
    code, status = "unknown_validation", 404
    text = "There is no validation {validation} of yours."
    advice = "One that enters nothing is kept for an hour, until a restart: ask for it again."


class UnknownRun(ArenaError):
    code, status = "unknown_run", 404
    text = "There is no run {run}."
    advice = "`arena run list` lists them."


class UnknownId(ArenaError):
    code, status = "unknown_id", 404
    text = "The arena has no record of {id}."
    advice = "Give the id of a submission, a run or a challenge, or a collection's whole digest."


class AlreadySubmitted(ArenaError):
    code, status = "already_submitted", 409
    text = "{source} is entered already, as {submission}."
    advice = "See `arena status {submission}`; push a new commit to enter a new version."


class LimitReached(ArenaError):
    code, status = "limit_reached", 429
    text = "{limit} at most {count} times in any hour, and {used} are used, attempts included."
    advice = "The next is free at {until} UTC; what failed by the platform's fault does not count."


class TooManyActive(ArenaError):
    code, status = "too_many_active", 429
    text = "{user} has {count} submissions under validation, as many as an author may."
    advice = "Submit again when one of them has ended; `arena status` shows how far they are."


class NotWithdrawable(ArenaError):
    code, status = "not_withdrawable", 409
    text = "The submission {submission} is {state}, so there is nothing to withdraw."
    advice = "See `arena history {submission}`."


class Withdrawn(ArenaError):
    code, status = "withdrawn", 409
    text = "The submission {submission} was withdrawn by {by}: {reason}"
    advice = "It stays on record; its author may enter the same content again at its address."


class AlreadySettled(ArenaError):
    code, status = "already_settled", 409
    text = "The submission {submission} is {author}'s already."
    advice = "Nothing is to be done; `arena history {submission}` shows why."


class NotValid(ArenaError):
    code, status = "not_valid", 409
    text = "The submission {submission} is {state}, and only a valid one can be run."
    advice = "`arena status {submission}` shows what to mend, or how far its validation is."


class NotNewest(ArenaError):
    code, status = "not_newest", 409
    text = "{submission} has a newer valid version, {newest}."
    advice = "Launch the run of {newest}."


class TooFewTasks(ArenaError):
    code, status = "too_few_tasks", 409
    text = "{challenge} needs a collection of at least {needed} tasks; this one has {tasks}."
    advice = "Add tasks, push the new commit, submit it; a run would have failed at the gate."


class ChallengeNotOpen(ArenaError):
    code, status = "challenge_not_open", 409
    text = "The challenge {challenge} is {state}: {reason}"
    advice = "It takes no new runs until an editor opens it; what is entered stays."


class ChallengeNotReady(ArenaError):
    code, status = "challenge_not_ready", 409
    text = "The challenge {challenge} takes no runs: {reason}."
    advice = "Try again when the front page says that it takes runs."


class RunsUsedUp(ArenaError):
    code, status = "runs_used_up", 409
    text = "This collection's line has used its {count} runs on {challenge}."
    advice = "Runs that failed by the platform's fault do not count."


class BudgetUsedUp(ArenaError):
    code, status = "budget_used_up", 409
    text = (
        "The compute budget of {challenge}, {cap} worker hours, has no room for a run of up to "
        "{each}: {used} are used and {reserved} reserved."
    )
    advice = "What is reserved comes back as runs end sooner; else ask its organizers."


class RunUnderWay(ArenaError):
    code, status = "run_under_way", 409
    text = "This collection has a run under way on {challenge}: {run}."
    advice = "See `arena run show {run}`; launch the next one when it has ended."


class NotCancellable(ArenaError):
    code, status = "not_cancellable", 409
    text = "The run {run} is {state}, and only a queued or running one can be cancelled."
    advice = "See `arena run show {run}`."


class NotReviewable(ArenaError):
    code, status = "not_reviewable", 409
    text = "The run {run} is {state}, and only a scored one is reviewed."
    advice = "See `arena run show {run}`."


class AlreadyReviewed(ArenaError):
    code, status = "already_reviewed", 409
    text = "The run {run} is {verdict} already, by {by}: {reason}"
    advice = "Only the other verdict, with a reason, would change it."


class SameState(ArenaError):
    code, status = "same_state", 409
    text = "The challenge {challenge} is {state} already: {reason}"
    advice = "Nothing is to be done."


class LeaseLost(ArenaError):
    code, status = "lease_lost", 409
    text = "This lease on {run} no longer holds: the run is {state}."
    advice = "Stop the work; the arena has decided without it."


class SealedStage(ArenaError):
    code, status = "sealed_stage", 422
    text = "The stage {stage} tells counts alone: what it touches is sealed."
    advice = "Send counts alone of it; words and rewards are for the author's own tasks."


class BadReport(ArenaError):
    code, status = "bad_report", 422
    text = "The report of {run} is refused: {problem}."
    advice = "Bring the worker to the arena's version."


class ReplayLeaseLost(LeaseLost):
    text = "This lease on the replay of {collection} no longer holds: {why}."


class BadReplay(ArenaError):
    code, status = "bad_replay", 422
    text = "The replay of {collection} is refused: {problem}."
    advice = "Bring the worker to the arena's version."


class NearCopy(ArenaError):
    code, status = "near_copy", 409
    text = "Too close to a held-out task: {packages}."
    advice = "Take it out: what the arena measures with must not be trained on."


class DuplicateCollection(ArenaError):
    code, status = "duplicate_collection", 409
    text = "The same content is entered already, as {submission} of {author}."
    advice = "The same content is never two collections; an editor settles claims."


class StoreUnavailable(ArenaError):
    code, status = "store_unavailable", 503
    text = "The results store cannot be read: {problem}."
    advice = "Nothing is lost; the arena goes on by itself as soon as it can be read."


class NotRecorded(ArenaError):
    code, status = "not_recorded", 503
    text = "The results store did not take it: {problem}."
    advice = "Nothing was recorded; try again in a minute."


class OutcomeUnknown(ArenaError):
    code, status = "outcome_unknown", 503
    text = "The results store fell silent ({problem}); whether it took this is not known yet."
    advice = "Look whether it is there before you try again; the same Idempotency-Key is safe."


class NotFound(ArenaError):
    code, status = "not_found", 404
    text = "There is nothing at {path}."
    advice = "/openapi.json lists the addresses."
