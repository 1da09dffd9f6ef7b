"""The use cases, with who may do what. Every front (pages, REST, command line) comes through here.

Reading needs nobody. Each writing use case takes the caller's `Identity` first, refuses who may
not, and answers once its record has landed in the store.
"""

from __future__ import annotations

import hashlib
import logging
import unicodedata
from collections.abc import Callable
from pathlib import Path

import httpx
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

from arena import views
from arena.budget import CommitBudget
from arena.challenges import Challenges, load_challenges
from arena.commons import Commons
from arena.entry import (
    Attempts,
    authors_of,
    require_author,
    require_not_entered,
    require_not_too_many,
    require_within_limits,
)
from arena.errors import (
    AlreadyReviewed,
    ArenaError,
    BadRequest,
    HubUnavailable,
    NotCancellable,
    NotReviewable,
    NotYours,
    OwnCollection,
    ReasonRequired,
    SameState,
    UnknownValidation,
)
from arena.hubclient import bound_hub_calls
from arena.identity import Identities, Identity, require_editor
from arena.keeper import Keeper
from arena.ledger import Ledger
from arena.nearcopies import SealedIndex, SealedIndexError
from arena.queries import Queries, is_author_of, run_of, submission_of
from arena.records import (
    AnyRecord,
    ChallengeStateRecord,
    ReleaseRecord,
    ReviewRecord,
    RunEventRecord,
    RunRecord,
    SubmissionRecord,
    ValidationRecord,
    Verdict,
    new_id,
)
from arena.runs.launch import (
    reason_of,
    require_run_left,
    require_runnable,
    require_takes_runs,
    state_of,
)
from arena.runs.queue import RunQueue
from arena.runs.replays import ReplayQueue
from arena.settings import Settings
from arena.sources import open_sources, parse_source
from arena.state import Run, State, Submission
from arena.store import Store
from arena.validation import Validator

log = logging.getLogger(__name__)

MAX_TITLE = 120
MAX_REASON = 1000
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
        self._attempts = Attempts()
        self._validator = Validator(self.ledger, self._sources, self._indexes, self.challenges)
        self.queue = RunQueue(
            self.ledger, self.challenges, settings.lease_seconds, self._takes_leases
        )
        self.replays = ReplayQueue(
            self.ledger, self.challenges, settings.lease_seconds, self._takes_leases, self.queue
        )
        commons_repo = settings.commons_repo or f"{organization}/commons"
        self._commons = Commons(commons_repo, api, self._sources)
        self.read = Queries(self.challenges, self.ledger, self._validator, self.queue, self.replays)
        self._keeper = Keeper(
            [self.queue.expire, self._release_accepted, self._validator.take_up],
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
            NotRecorded, and what a SourceReader raises.
        """
        title = _line_of_text("title", title, MAX_TITLE)
        given = parse_source(source)
        request = _request(who, f"submit:{given}", key)
        if answered := self.ledger.state.requests.get(request or ""):
            return self.read.submission_detail(answered)  # whatever became of the source since
        limits = self.challenges.arena.limits
        require_within_limits(self.ledger.state, limits, who.user, self._attempts)
        with self._attempts.counting_refusals(who.user):
            pinned = self._sources.resolve(given)
            authors = authors_of(self._sources, pinned)
            require_author(who, pinned, authors)
        address = pinned.source
        record = SubmissionRecord(
            id=new_id(SubmissionRecord.prefix),
            by=who.user,
            request=request,
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

        submission = self._once(request, decide)
        if self.ledger.state.submissions[submission].validation is None:
            self._validator.enqueue(submission)
        return self.read.submission_detail(submission)

    def validate(
        self, who: Identity, source: str, challenge: str | None = None
    ) -> views.ValidationView:
        """Checks any public source in the background, and enters nothing.

        Raises:
            BadSource, UnknownChallenge, LimitReached, TooManyActive, and what a SourceReader
            raises.
        """
        given = parse_source(source)
        if challenge is not None:
            self.read.challenge(challenge)
        state, limits = self.ledger.state, self.challenges.arena.limits
        require_within_limits(state, limits, who.user, self._attempts)
        require_not_too_many(state, limits, who.user, self._validator.trying_out(who.user))
        with self._attempts.counting_refusals(who.user):
            pinned = self._sources.resolve(given)
        self._attempts.add(who.user)
        validation = new_id(ValidationRecord.prefix)
        self._validator.try_out(validation, who.user, pinned, challenge)
        return self.validation(who, validation)

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
            ChallengeNotOpen, ChallengeNotReady, RunUnderWay, RunsUsedUp, NotRecorded.
        """
        found = self.read.challenge(challenge)
        request = _request(who, f"launch:{submission}:{challenge}", key)

        def decide(state: State) -> list[AnyRecord]:
            own = submission_of(state, submission)
            self._require_rights(who, own, challenge)
            require_runnable(state, own, found)
            require_takes_runs(state, found, self.queue)
            require_run_left(state, own, found)
            return [
                RunRecord(
                    id=new_id(RunRecord.prefix),
                    by=who.user,
                    request=request,
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

    def cancel(
        self, who: Identity, run: str, reason: str, key: str | None = None
    ) -> views.RunDetail:
        """Ends a queued or running run; it costs its author nothing.

        Raises:
            UnknownRun, NotYours, NotCancellable, ReasonRequired, NotRecorded.
        """
        reason = _reason(reason)
        request = _request(who, f"cancel:{run}", key)

        def decide(state: State) -> list[AnyRecord]:
            found = run_of(state, run)
            own = submission_of(state, found.record.submission)
            self._require_rights(who, own, found.record.challenge)
            if found.state not in {"queued", "running"}:
                raise NotCancellable(run=run, state=found.state)
            return [
                RunEventRecord(
                    id=new_id(RunEventRecord.prefix),
                    by=who.user,
                    request=request,
                    run=run,
                    event="cancelled",
                    code="cancelled",
                    reason=reason,
                )
            ]

        self._once(request, decide)
        return self.read.run_detail(run)

    # Editors

    def review(
        self, who: Identity, run: str, verdict: Verdict, reason: str, key: str | None = None
    ) -> views.RunDetail:
        """Accepts or rejects a scored run; accepting releases the collection to the commons.

        Raises:
            UnknownRun, NotEditor, WeakToken, OwnCollection, NotReviewable, AlreadyReviewed,
            ReasonRequired, NotRecorded.
        """
        request = _request(who, f"review:{run}:{verdict}", key)

        def decide(state: State) -> list[AnyRecord]:
            found = run_of(state, run)
            challenge = self.challenges.challenges.get(found.record.challenge)
            require_editor(who, self.challenges.arena, challenge)
            if is_author_of(who, submission_of(state, found.record.submission)):
                raise OwnCollection(user=who.user)
            if found.state == verdict:
                last = found.reviews[-1]
                raise AlreadyReviewed(run=run, verdict=verdict, by=last.by, reason=last.reason)
            if found.state not in {"scored", "accepted", "rejected"}:
                raise NotReviewable(run=run, state=found.state)
            return [
                ReviewRecord(
                    id=new_id(ReviewRecord.prefix),
                    by=who.user,
                    request=request,
                    run=run,
                    verdict=verdict,
                    reason=_reason(reason),
                )
            ]

        self._once(request, decide)
        self._keeper.wake()
        return self.read.run_detail(run)

    def set_challenge_state(
        self, who: Identity, challenge: str, to: str, reason: str, key: str | None = None
    ) -> views.ChallengeView:
        """Opens, pauses or closes a challenge. What runs, finishes.

        Raises:
            UnknownChallenge, NotEditor, WeakToken, SameState, ReasonRequired, BadRequest,
            NotRecorded.
        """
        found = self.read.challenge(challenge)
        require_editor(who, self.challenges.arena, found)
        if to not in {"open", "paused", "closed"}:
            raise BadRequest(problem="state is one of open, paused, closed")
        reason = _reason(reason)
        request = _request(who, f"state:{challenge}:{to}", key)

        def decide(state: State) -> list[AnyRecord]:
            if state_of(state, found) == to:
                current = reason_of(state, found)
                raise SameState(challenge=challenge, state=to, reason=current)
            return [
                ChallengeStateRecord.model_validate(
                    {
                        "id": new_id(ChallengeStateRecord.prefix),
                        "by": who.user,
                        "request": request,
                        "challenge": challenge,
                        "state": to,
                        "reason": reason,
                    }
                )
            ]

        self._once(request, decide)
        return self.read.challenge_view(challenge)

    # What the use cases share

    def _once(self, request: str | None, decide: Callable[[State], list[AnyRecord]]) -> str:
        """Commits a decision; a request answered before gets the id of its first record."""

        def unless_answered(state: State) -> list[AnyRecord]:
            return [] if request in state.requests else decide(state)

        records = self.ledger.transact(unless_answered)
        return records[0].id if records else self.ledger.state.requests[request or ""]

    def _require_rights(self, who: Identity, own: Submission, challenge: str) -> None:
        """Raises NotYours where `who` is neither an author nor an editor of the challenge."""
        if not is_author_of(who, own) and not self.read.is_editor(who, challenge):
            raise NotYours(source=own.record.source, owner=own.record.owner, user=who.user)

    def _takes_leases(self, state: State, challenge: str) -> bool:
        found = self.challenges.challenges.get(challenge)
        return found is not None and state_of(state, found) == "open"

    def _indexes(self) -> list[SealedIndex]:
        """The sealed index of every challenge's suite.

        Raises:
            HubUnavailable: one cannot be read now, so nothing can be called clear of it.
        """
        indexes = []
        for challenge in self.challenges.challenges.values():
            suite = challenge.suite
            try:
                path = self._api.hf_hub_download(
                    f"{suite.repo}-index",
                    "index.json",
                    repo_type="dataset",
                    revision=suite.revision,
                )
                text = Path(path).read_text(encoding="utf-8")
                indexes.append(SealedIndex.parse(text, self.settings.suite_key))
            except (HfHubHTTPError, httpx.HTTPError, OSError, SealedIndexError) as exc:
                log.warning("the index of %s: %s", challenge.id, type(exc).__name__)
                problem = f"the sealed index of {challenge.id} cannot be read"
                raise HubUnavailable(problem=problem) from exc
        return indexes

    def _release_accepted(self) -> None:
        """Commits to the commons what is accepted and not released yet.

        One that cannot be released now, its source gone perhaps, holds up no other.
        """
        state = self.ledger.state
        for run in list(state.runs.values()):
            if run.state != "accepted" or run.release is not None:
                continue
            try:
                self._release(run, state.submissions[run.record.submission])
            except (ArenaError, HfHubHTTPError, httpx.HTTPError, ValueError) as exc:
                log.warning("%s is not released: %s", run.record.id, type(exc).__name__)

    def _release(self, run: Run, submission: Submission) -> None:
        assert submission.validation is not None
        released = self._commons.release(run, submission)
        record = ReleaseRecord(
            id=new_id(ReleaseRecord.prefix),
            by="arena",
            run=run.record.id,
            submission=submission.record.id,
            collection=run.record.collection,
            repo=released.repo,
            commit=released.commit,
            folder=released.folder,
            packages=submission.validation.packages,
        )
        self.ledger.transact(
            lambda state: [record] if state.runs[run.record.id].release is None else []
        )


def _request(who: Identity, route: str, key: str | None) -> str | None:
    """What an Idempotency-Key is kept as: scoped to the user and what was asked."""
    if key is None:
        return None
    return hashlib.sha256(f"{who.user}\0{route}\0{key}".encode()).hexdigest()


def _reason(text: str) -> str:
    text = text.strip()
    if not text or len(text) > MAX_REASON:
        raise ReasonRequired
    if any(unicodedata.category(char) in {"Cc", "Cs"} and char not in "\n\r\t" for char in text):
        raise BadRequest(problem="the reason holds characters that cannot be shown")
    return text


def _line_of_text(name: str, text: str, limit: int) -> str:
    text = " ".join(text.split())
    if not text or len(text) > limit:
        raise BadRequest(problem=f"the {name} has 1 to {limit} characters")
    if not text.isprintable():
        raise BadRequest(problem=f"the {name} holds characters that cannot be shown")
    return text
