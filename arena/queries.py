"""Reading: what is true, in the shapes that are shown. Needs nobody's identity."""

from __future__ import annotations

from collections.abc import Container, Sequence

from arena import views
from arena.challenges import Challenge, Challenges
from arena.checking import Progress
from arena.errors import UnknownChallenge, UnknownRun, UnknownSubmission
from arena.history import HistoryRow, history
from arena.identity import Identity, is_editor
from arena.ledger import Ledger
from arena.listing import Listing
from arena.records import unpacked
from arena.report import Report
from arena.runs.launch import reason_of, state_of, why_no_leases, why_no_runs
from arena.runs.queue import RunQueue
from arena.runs.replays import ReplayQueue
from arena.runs.spending import spending
from arena.state import Run, RunState, State, Submission
from arena.suites import SuiteIndexes
from arena.validation import Validator
from leaderboard.ranking import Kept, Row, leaderboard


class Queries:
    """Everything that pages, API and command line show."""

    def __init__(
        self,
        challenges: Challenges,
        ledger: Ledger,
        validator: Validator,
        queue: RunQueue,
        replays: ReplayQueue,
        suites: SuiteIndexes,
    ) -> None:
        self._challenges = challenges
        self._ledger = ledger
        self._validator = validator
        self._queue = queue
        self._replays = replays
        self._suites = suites
        self._rows: Kept = {}
        self._boards: dict[str, tuple[State, Sequence[Row]]] = {}

    def writes(self) -> views.WritesView:
        """What a write that comes now has to expect."""
        outlook = self._ledger.outlook()
        return views.WritesView(**outlook._asdict(), text=outlook.text)

    def challenge(self, name: str) -> Challenge:
        """A challenge's file, or UnknownChallenge."""
        found = self._challenges.challenges.get(name)
        if found is None:
            raise UnknownChallenge(challenge=repr(name[:80]))
        return found

    def challenge_views(self) -> list[views.ChallengeView]:
        """Every challenge as it is now."""
        return [self.challenge_view(name) for name in self._challenges.challenges]

    def challenge_view(self, name: str) -> views.ChallengeView:
        """One challenge as it is now."""
        challenge, state = self.challenge(name), self._ledger.state
        changed = state.challenge_states.get(name)
        spent = spending(state, challenge)
        why_not = why_no_runs(state, challenge, self._queue, self._suites, spent)
        return views.ChallengeView(
            id=name,
            title=challenge.title,
            summary=challenge.summary,
            state=state_of(state, challenge),
            reason=reason_of(state, challenge),
            changed_by=changed.by if changed else None,
            changed_at=changed.at if changed else None,
            takes_runs=why_not is None,
            why_not=why_not,
            workers=self._queue.ready_workers(),
            queued=len(state.queue(name)),
            running=sum(
                r.state == "running" and r.record.challenge == name for r in state.runs.values()
            ),
            base_model=f"{challenge.base_model.repo}@{challenge.base_model.revision}",
            suite=f"{challenge.suite.repo}@{challenge.suite.revision}",
            recipe=self._challenges.recipes[name].name,
            trials=challenge.evaluation.trials,
            runs_per_collection=challenge.ranking.runs_per_collection,
            budget_hours=spent.cap,
            used_hours=round(spent.used, 2),
            reserved_hours=round(spent.reserved, 2),
        )

    def submission_views(
        self, by: str | None = None, claimed: bool = False
    ) -> Listing[Submission, views.SubmissionView]:
        """Submissions, newest first; of everybody or of one user, or those with a claim alone."""
        state = self._ledger.state
        found = [
            s
            for s in reversed(state.submissions.values())
            if (by is None or by in (s.record.by, s.author)) and (s.claims or not claimed)
        ]
        return Listing(found, lambda s: views.submission_view(*self._submission_facts(state, s)))

    def submission_detail(self, submission: str) -> views.SubmissionDetail:
        """One submission, with what its replay found."""
        state = self._ledger.state
        found = submission_of(state, submission)
        return views.submission_detail(*self._submission_facts(state, found))

    def run_views(
        self, challenge: str | None = None, states: Container[RunState] | None = None
    ) -> Listing[Run, views.RunView]:
        """Runs, newest first; of every challenge or one, in any state or in some."""
        state = self._ledger.state
        found = [
            run
            for run in reversed(state.runs.values())
            if challenge in (None, run.record.challenge) and (states is None or run.state in states)
        ]
        return Listing(found, lambda run: views.run_view(*self._run_facts(state, run)))

    def report(self, run: str) -> Report | None:
        """What the worker reported of a run; None before it is scored."""
        found = run_of(self._ledger.state, run).report
        return Report.model_validate_json(unpacked(found.report)) if found else None

    def run_detail(self, run: str) -> views.RunDetail:
        """One run, with what its report says."""
        state = self._ledger.state
        return views.run_detail(*self._run_facts(state, run_of(state, run)))

    def run_lines(self, run: str) -> list[views.LineView]:
        """What the stages of a run said in words, as far as it is kept."""
        own = run_of(self._ledger.state, run).record.id
        return [views.LineView(**line._asdict()) for line in self._queue.lines(own)]

    def leaderboard(self, challenge: str) -> Sequence[Row]:
        """The leaderboard of a challenge, computed once for each commit."""
        min_runs = self.challenge(challenge).ranking.min_runs
        state = self._ledger.state
        of, board = self._boards.get(challenge, (None, ()))
        if of is not state:
            board = leaderboard(state, challenge, min_runs, self._rows)
            self._boards[challenge] = state, board
        return board

    def commons(self) -> Listing[Run, views.CommonsEntry]:
        """What is released, newest first, each collection once."""
        state = self._ledger.state
        released = {run.record.collection: run for run in state.runs.values() if run.release}
        return Listing(list(reversed(released.values())), lambda run: _entry(state, run))

    def history(self, name: str) -> list[HistoryRow]:
        """Every record that touched what has that id or content digest, first to last."""
        return history(self._ledger.state, name, frozenset(self._challenges.challenges))

    def is_editor(self, who: Identity | None, challenge: str | None = None) -> bool:
        """Whether `who` is an editor: of a challenge, or of the whole arena."""
        found = self._challenges.challenges.get(challenge) if challenge else None
        return who is not None and is_editor(who, self._challenges.arena, found)

    def edits_any(self, who: Identity | None) -> bool:
        """Whether `who` is an editor of the arena, or of one of its challenges."""
        return any(self.is_editor(who, name) for name in self._challenges.challenges)

    def may_launch(self, who: Identity | None, submission: str) -> bool:
        """Whether `who` may launch runs of a submission somewhere; for showing."""
        if who is None:
            return False
        found = submission_of(self._ledger.state, submission)
        return self.edits_any(who) or is_author_of(who, found)

    def is_author(self, who: Identity | None, submission: str) -> bool:
        """Whether `who` has the author's rights over a submission; for showing."""
        return who is not None and is_author_of(who, submission_of(self._ledger.state, submission))

    def _submission_facts(
        self, state: State, submission: Submission
    ) -> tuple[Submission, Progress, list[str], views.ReplayDetail | None]:
        own = submission.record.id
        runs = [run.record.id for run in state.runs_of(own)]
        progress = self._validator.progress(own)
        return submission, progress, runs, self._replay_view(state, submission)

    def _replay_view(self, state: State, submission: Submission) -> views.ReplayDetail | None:
        validation, collection = submission.validation, submission.collection
        if not submission.is_valid or validation is None or collection is None:
            return None
        record, live = state.replays.get(collection), self._replays.live(collection)
        if record is None and submission.withdrawal:
            return None  # nothing is waited for
        waits_for = self._replays.waits_for(collection)
        return views.replay_view(len(validation.packages), record, live, waits_for)

    def _run_facts(self, state: State, run: Run) -> tuple[Run, Submission, views.RunNow]:
        place = held = None
        if run.state == "queued":  # the queue is looked through for those alone that stand in it
            name = run.record.challenge
            place = state.queue(name).index(run) + 1
            found = self._challenges.challenges.get(name)
            held = why_no_leases(state, found, self._suites)
        own = state.submissions[run.record.submission]
        live, alive = self._queue.live(run.record.id), self._queue.is_alive(run)
        return run, own, views.RunNow(place, held, live, alive)


def _entry(state: State, run: Run) -> views.CommonsEntry:
    submission, release = state.submissions[run.record.submission], run.release
    assert release is not None
    return views.CommonsEntry(
        collection=run.record.collection,
        title=submission.record.title,
        author=submission.author,
        source=submission.record.source,
        submission=submission.record.id,
        run=run.record.id,
        repo=release.repo,
        commit=release.commit,
        folder=release.folder,
        released_at=release.at,
        packages=release.packages,
        withdrawal=_withdrawn(state, submission),
    )


def _withdrawn(state: State, submission: Submission) -> views.WithdrawalView | None:
    """The withdrawal of a content: none where it was entered again and stands."""
    if submission.withdrawal is None:
        return None
    again = any(same.stands for same in state.of_content(submission.collection or ""))
    return None if again else views.withdrawal_view(submission.withdrawal)


def submission_of(state: State, submission: str) -> Submission:
    """The submission of that id, or UnknownSubmission."""
    found = state.submissions.get(submission)
    if found is None:
        raise UnknownSubmission(submission=repr(submission[:80]))
    return found


def run_of(state: State, run: str) -> Run:
    """The run of that id, or UnknownRun."""
    found = state.runs.get(run)
    if found is None:
        raise UnknownRun(run=repr(run[:80]))
    return found


def is_author_of(who: Identity, submission: Submission) -> bool:
    """Whether `who` has the author's rights over a submission."""
    owns = not submission.is_anothers and who.may_act_for(submission.record.owner)
    return owns or submission.is_author(who.user)
