"""The use cases, with who may do what. Every front (pages, REST, command line) comes through here.

Reading needs nobody. Each writing use case takes the caller's `Identity` first, refuses who may
not, and answers once its record has landed in the store.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from huggingface_hub import HfApi

from arena import decisions, views
from arena.budget import CommitBudget
from arena.challenges import Challenge, Challenges, load_challenges
from arena.commons import Commons
from arena.commonsindex import CommonsIndex
from arena.decisions import require_rights
from arena.editorsnote import EditorsNote, EditorsNotes
from arena.entry import (
    Attempts,
    authors_of,
    require_author,
    require_not_entered,
    require_not_too_many,
    require_within_limits,
)
from arena.errors import (
    BadRequest,
    NotEditor,
    UnknownValidation,
)
from arena.health import Health
from arena.hubclient import bound_hub_calls
from arena.identity import Identities, Identity, require_editor
from arena.keeper import Keeper
from arena.ledger import Ledger
from arena.queries import Queries, submission_of
from arena.records import (
    AnyRecord,
    RunRecord,
    SubmissionRecord,
    ValidationRecord,
    Verdict,
    new_id,
)
from arena.releases import Releases
from arena.requests import Asked, answer_of, asked, once, title_text
from arena.runs import preflight
from arena.runs.launch import Condition, conditions, why_no_leases
from arena.runs.queue import RunQueue
from arena.runs.replays import ReplayQueue
from arena.runs.silence import Silence
from arena.settings import Settings
from arena.sources import Source, open_sources, parse_source
from arena.state import State, Submission
from arena.store import Store
from arena.suites import SuiteIndexes
from arena.validation import Validator
from arena.waits import KeptWaits

log = logging.getLogger(__name__)

_SWEEP_SECONDS = 5.0


class Arena:
    """The arena of one process: its ledger, its background work, its use cases."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.challenges: Challenges = load_challenges(settings.challenges)
        organization = self.challenges.arena.organization
        bound_hub_calls()
        api = HfApi(endpoint=settings.hub_endpoint, token=settings.hub_token)
        self._api = api
        self.identities = Identities(settings.hub_endpoint)
        results = Store(
            settings.results_repo or f"{organization}/results", api, settings.data / "store"
        )
        self.ledger = Ledger(results, CommitBudget(settings.commits_per_hour))
        self._sources = open_sources(
            settings.hub_endpoint, settings.github, settings.data / "files"
        )
        self.suites = SuiteIndexes(api, self.challenges, settings.suite_key)
        self._notes = EditorsNotes(settings.suite_key)
        self._validator = Validator(
            self.ledger,
            self._sources,
            self.suites,
            CommonsIndex(api, self.ledger),
            self._notes,
            self.challenges,
            KeptWaits(settings.data / "waits.json"),
        )
        self._attempts = Attempts(settings.data / "attempts.json", self._validator.tried)
        self.queue = RunQueue(
            self.ledger, self.challenges, settings.lease_seconds, self._takes_leases
        )
        self.replays = ReplayQueue(
            self.ledger, self.challenges, settings.lease_seconds, self._takes_leases, self.queue
        )
        commons_repo = settings.commons_repo or f"{organization}/commons"
        self._releases = Releases(self.ledger, Commons(commons_repo, api, self._sources))
        self.health = Health(self.ledger, self.queue)
        self.read = Queries(
            self.challenges, self.ledger, self._validator, self.queue, self.replays, self.suites
        )
        silence = Silence(self.ledger, self.queue, settings.lease_seconds)
        self._keeper = Keeper(
            [
                silence.sweep,
                self._releases.release_accepted,
                self._validator.take_up,
                self.suites.look_again,
            ],
            seconds=min(_SWEEP_SECONDS, settings.lease_seconds / 4),
        )

    def start(self) -> None:
        """Reads the store and takes up what an earlier process left undone."""
        self.ledger.open()
        self._keeper.start()
        self._keeper.wake()

    def close(self) -> None:
        """Ends the background work after what is under way."""
        self._keeper.close()
        self._validator.close()
        self.ledger.close()

    # Authors

    def submit(
        self, who: Identity, source: str, title: str, key: str | None = None
    ) -> views.SubmissionDetail:
        """Enters a collection: pinned to its commit, recorded, then validated in the background.

        Raises:
            BadSource, NotYours, AlreadySubmitted, LimitReached, TooManyActive, BadRequest,
            IdempotencyMismatch, NotRecorded, and what a SourceReader raises.
        """
        request = asked(who, "submissions", key, source=source, title=title)
        if answered := answer_of(self.ledger.state, request):
            return self.read.submission_detail(answered)  # whatever became of the source since
        title, given = title_text(title), parse_source(source)
        limits = self.challenges.arena.limits

        def require_room(state: State) -> None:
            require_within_limits(state, limits, who.user, self._attempts)

        self.ledger.require(require_room)  # before it costs a site anything
        with self._attempts.counting_refusals(who.user):
            submission = self._enter(who, given, title, request)
        if self.ledger.state.submissions[submission].is_under_way:
            self._validator.enqueue(submission)
        return self.read.submission_detail(submission)

    def _enter(self, who: Identity, given: Source, title: str, request: Asked | None) -> str:
        limits = self.challenges.arena.limits
        pinned = self._sources.resolve(given)
        authors = authors_of(self._sources, pinned)
        require_author(who, pinned, authors)
        address = pinned.source
        record = SubmissionRecord(
            id=new_id(SubmissionRecord.prefix),
            by=who.user,
            title=title,
            owner=address.holder,
            source=str(pinned),
            requested_revision=address.revision,
            commit=pinned.commit,
            line=address.line,
            authors=authors,
        )

        def decide(state: State) -> list[AnyRecord]:
            require_not_entered(state, record)
            require_within_limits(state, limits, who.user, self._attempts)
            require_not_too_many(state, limits, who.user)
            return [record]

        return self._once(request, decide)

    def withdraw(
        self, who: Identity, submission: str, reason: str, key: str | None = None
    ) -> views.SubmissionDetail:
        """Takes a submission out: it stays on record, and neither runs nor ranks any more.

        Its runs that wait or are under way are cancelled in the same transaction; a validation
        under way ends and is recorded, and changes nothing. What is released stays released.

        Raises:
            UnknownSubmission, NotYours, Withdrawn, NotWithdrawable, ReasonRequired,
            IdempotencyMismatch, NotRecorded.
        """
        request = asked(who, f"submissions/{submission}:withdraw", key, reason=reason)
        self._once(request, lambda state: decisions.withdrawal(state, who, submission, reason))
        return self.read.submission_detail(submission)

    def validate(
        self, who: Identity, source: str, challenge: str | None = None, key: str | None = None
    ) -> views.ValidationView:
        """Checks any public source in the background, and enters nothing.

        Raises:
            BadSource, UnknownChallenge, LimitReached, TooManyActive, IdempotencyMismatch, and what
            a SourceReader raises.
        """
        request = asked(who, "submissions:validate", key, source=source, challenge=challenge or "")
        if answered := self._validator.answer_of(request):
            return views.validation_view(answered)
        given = parse_source(source)
        if challenge is not None:
            self.read.challenge(challenge)
        limits = self.challenges.arena.limits

        def require_room(state: State) -> None:
            require_within_limits(state, limits, who.user, self._attempts)
            require_not_too_many(state, limits, who.user, self._validator.trying_out(who.user))

        self.ledger.require(require_room)
        with self._attempts.counting_refusals(who.user):
            pinned = self._sources.resolve(given)
        id_ = new_id(ValidationRecord.prefix)
        return views.validation_view(
            self._validator.try_out(id_, who.user, pinned, challenge, request)
        )

    def validation(self, who: Identity, validation: str) -> views.ValidationView:
        """How far a validation that enters nothing is; for who asked for it.

        Raises:
            UnknownValidation.
        """
        found = self._validator.tried_out(validation)
        if found is None or found.by != who.user:
            raise UnknownValidation(validation=repr(validation[:80]))
        return views.validation_view(found)

    def launch(
        self, who: Identity, submission: str, challenge: str, key: str | None = None
    ) -> views.RunDetail:
        """Queues a run of a valid submission.

        Raises:
            UnknownSubmission, UnknownChallenge, NotYours, NotValid, NotNewest, TooFewTasks,
            ChallengeNotOpen, ChallengeNotReady, RunUnderWay, RunsUsedUp, BudgetUsedUp,
            IdempotencyMismatch, NotRecorded.
        """
        found = self.read.challenge(challenge)
        request = asked(who, "runs:launch", key, submission=submission, challenge=challenge)

        def decide(state: State) -> list[AnyRecord]:
            own = submission_of(state, submission)
            for condition in self._conditions(state, who, own, found):
                condition.require()
            return [
                RunRecord(
                    id=new_id(RunRecord.prefix),
                    by=who.user,
                    submission=submission,
                    collection=own.collection or "",
                    challenge=challenge,
                    challenge_digest=found.digest,
                    recipe_digest=self.challenges.recipes[challenge].digest,
                    base_model=f"{found.base_model.repo}@{found.base_model.revision}",
                    suite=f"{found.suite.repo}@{found.suite.revision}",
                )
            ]

        return self.read.run_detail(self._once(request, decide))

    def preflight(self, who: Identity, submission: str, challenge: str) -> views.PreflightView:
        """Every condition of a launch, whether it holds now, and what else can be said before.

        Raises:
            UnknownSubmission, UnknownChallenge, NotRecorded.
        """
        found = self.read.challenge(challenge)
        self.ledger.require(lambda state: submission_of(state, submission))
        state = self.ledger.state
        own = submission_of(state, submission)
        rows = [preflight.tried(c) for c in self._conditions(state, who, own, found)]
        rows += preflight.foreseen(self.read.submission_detail(submission), self.queue)
        return views.PreflightView(
            submission=submission,
            challenge=challenge,
            ready=all(row.outcome != "fail" for row in rows),
            conditions=rows,
        )

    def _conditions(
        self, state: State, who: Identity, own: Submission, challenge: Challenge
    ) -> list[Condition]:
        rights = partial(require_rights, who, own, self.challenges, challenge.id)
        others = conditions(state, own, challenge, self.queue, self.suites)
        return [Condition("author's or editor's rights", rights), *others]

    def cancel(
        self, who: Identity, run: str, reason: str, key: str | None = None
    ) -> views.RunDetail:
        """Ends a queued or running run.

        It counts as one of the collection's where an author cancels it once a worker has it.

        Raises:
            UnknownRun, NotYours, NotCancellable, ReasonRequired, IdempotencyMismatch, NotRecorded.
        """
        request = asked(who, f"runs/{run}:cancel", key, reason=reason)
        self._once(
            request,
            lambda state: decisions.cancellation(state, self.challenges, who, run, reason),
        )
        return self.read.run_detail(run)

    # Editors

    def suspects(self, who: Identity, submission: str) -> EditorsNote:
        """What editors alone may know of a submission's likeness to held-out tasks.

        Raises:
            UnknownSubmission, NotEditor, NotRecorded.
        """
        if not self.read.edits_any(who):
            organization = self.challenges.arena.organization
            raise NotEditor(user=who.user, challenge="this arena", organization=organization)
        self.ledger.require(lambda state: submission_of(state, submission))
        found = submission_of(self.ledger.state, submission)
        sealed = found.validation.for_editors if found.validation else ""
        return self._notes.open(sealed) or EditorsNote()

    def review(
        self, who: Identity, run: str, verdict: Verdict, reason: str, key: str | None = None
    ) -> views.RunDetail:
        """Accepts or rejects a scored run; accepting releases the collection to the commons.

        Raises:
            UnknownRun, NotEditor, WeakToken, OwnCollection, NotReviewable, AlreadyReviewed,
            Withdrawn, ReasonRequired, IdempotencyMismatch, NotRecorded.
        """
        request = asked(who, "reviews", key, run=run, verdict=verdict, reason=reason)
        self._once(
            request,
            lambda state: decisions.review(state, self.challenges, who, run, verdict, reason),
        )
        self._keeper.wake()
        return self.read.run_detail(run)

    def settle_claim(
        self, who: Identity, submission: str, author: str, reason: str, key: str | None = None
    ) -> views.SubmissionDetail:
        """Settles whose a submission and its content are: `author` alone has the rights then.

        Raises:
            UnknownSubmission, NotEditor, WeakToken, OwnCollection, AlreadySettled, BadRequest,
            ReasonRequired, IdempotencyMismatch, NotRecorded.
        """
        author = author.strip()
        route = f"submissions/{submission}:claim"
        request = asked(who, route, key, author=author, reason=reason)
        self._once(
            request,
            lambda state: decisions.claim(state, self.challenges, who, submission, author, reason),
        )
        return self.read.submission_detail(submission)

    def set_challenge_state(
        self, who: Identity, challenge: str, to: str, reason: str, key: str | None = None
    ) -> views.ChallengeView:
        """Opens, pauses or closes a challenge. What runs, finishes.

        Raises:
            UnknownChallenge, NotEditor, WeakToken, SameState, ReasonRequired, BadRequest,
            IdempotencyMismatch, NotRecorded.
        """
        found = self.read.challenge(challenge)
        require_editor(who, self.challenges.arena, found)
        if to not in {"open", "paused", "closed"}:
            raise BadRequest(problem="state is one of open, paused, closed")
        route = f"challenges/{challenge}/state"
        request = asked(who, route, key, state=to, reason=reason)
        self._once(request, lambda state: decisions.challenge_state(state, who, found, to, reason))
        return self.read.challenge_view(challenge)

    # What the use cases share

    def _once(self, request: Asked | None, decide: Callable[[State], list[AnyRecord]]) -> str:
        """Commits a decision; a request answered before gets the id of its first record."""
        records = self.ledger.transact(once(request, decide))
        return records[0].id if records else answer_of(self.ledger.state, request) or ""

    def _takes_leases(self, state: State, challenge: str) -> bool:
        found = self.challenges.challenges.get(challenge)
        return why_no_leases(state, found, self.suites) is None
