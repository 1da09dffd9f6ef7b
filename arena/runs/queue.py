"""The worker's side of a run: lease, heartbeat, stages, report. Each call is checked by its lease.

Leases, ends of stages and verdicts are records; heartbeats and progress stay in memory.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from arena.challenges import Challenges
from arena.errors import LeaseLost, SealedStage, UnknownRun
from arena.ledger import Ledger
from arena.records import AnyRecord, Fault, RunEventRecord, new_id
from arena.report import SUITE_STAGES, WORDY_STAGES
from arena.runs.ingest import Void, parse_report, score
from arena.runs.lines import Line, LineBook
from arena.runs.live import LiveRun
from arena.runs.messages import WORKER_STOPPED, Beat, Failure, Lease, Lines, Ready, StageEnd
from arena.state import Run, State

BY = "arena"


@dataclass
class Presence:
    """What a worker last said of itself."""

    heard: float
    missing: str | None


class RunQueue:
    """Gives runs to workers and takes what they send back."""

    def __init__(
        self,
        ledger: Ledger,
        challenges: Challenges,
        lease_seconds: float,
        takes_leases: Callable[[State, str], bool],
    ) -> None:
        self._ledger = ledger
        self._challenges = challenges
        self._lease_seconds = lease_seconds
        self._takes_leases = takes_leases
        self._lock = threading.Lock()
        self._live: dict[str, LiveRun] = {}
        self._lines = LineBook()
        self._workers: dict[str, Presence] = {}

    def workers(self) -> dict[str, Presence]:
        """The workers heard of within a lease's time, by account."""
        oldest = time.monotonic() - self._lease_seconds
        with self._lock:
            return {name: p for name, p in self._workers.items() if p.heard >= oldest}

    def ready_workers(self) -> int:
        """How many of those lack nothing."""
        return sum(presence.missing is None for presence in self.workers().values())

    def heard_of(self, worker: str, missing: str | None) -> None:
        """Notes a worker's sign of life, and what it says that it lacks."""
        with self._lock:
            self._workers[worker] = Presence(time.monotonic(), missing)

    def is_waited_for(self) -> bool:
        """Whether a run that may be leased waits for a worker."""
        state = self._ledger.state
        return any(self._can_run(state, run) for run in state.queue())

    def is_alive(self, run: Run) -> bool:
        """Whether a running run's own worker, or any worker for another, was heard of lately."""
        if run.state != "running":
            return bool(self.workers())
        live = self.live(run.record.id)
        return live is not None and time.monotonic() - live.heard < self._lease_seconds / 2

    def live(self, run: str) -> LiveRun | None:
        """What was last heard of a running run."""
        with self._lock:
            return self._live.get(run)

    def last_heard(self, run: str) -> float | None:
        """When this process last heard of a run, on the monotonic clock."""
        live = self.live(run)
        return live.heard if live else None

    def lease(self, worker: str, ready: Ready) -> Lease | None:
        """The next run of the queue for `worker`; None where there is none it can take."""
        self.heard_of(worker, ready.missing)
        if ready.missing or not self._can_lease(ready):
            return None

        def decide(state: State) -> list[AnyRecord]:
            if _run_of(state, ready.lease):
                return []
            run = self._next(state, ready)
            if run is None:
                return []
            event = RunEventRecord(
                id=new_id(RunEventRecord.prefix),
                by=worker,
                run=run.record.id,
                event="leased",
                lease=ready.lease,
            )
            return [event]

        self._ledger.transact(decide)
        run = _run_of(self._ledger.state, ready.lease)
        if run is None or run.worker != worker:
            return None
        with self._lock:
            self._live[run.record.id] = LiveRun()
        submission = self._ledger.state.submissions[run.record.submission]
        return Lease(
            lease=ready.lease,
            run=run.record.id,
            challenge=run.record.challenge,
            challenge_digest=run.record.challenge_digest,
            recipe_digest=run.record.recipe_digest,
            source=submission.record.source,
            collection=run.record.collection,
            heartbeat_seconds=self._lease_seconds / 4,
        )

    def beat(self, worker: str, run: str, beat: Beat) -> None:
        """Takes a sign of life.

        Raises:
            LeaseLost: the run was cancelled, failed or given to another worker: stop.
            SealedStage: it tells more of a stage that touches the suite than counts.
        """
        if beat.stage in SUITE_STAGES and beat.reward is not None:
            raise SealedStage(stage=beat.stage)
        self._require_leased(worker, run, beat.lease)
        self.heard_of(worker, None)
        with self._lock:
            self._live.setdefault(run, LiveRun()).take(beat, time.monotonic())

    def say(self, worker: str, run: str, told: Lines) -> None:
        """Takes what a stage said in words.

        Raises:
            LeaseLost: the run is no longer this worker's.
            SealedStage: the stage may touch what is sealed.
        """
        if told.stage not in WORDY_STAGES:
            raise SealedStage(stage=told.stage)
        self._require_leased(worker, run, told.lease)
        self._lines.add(run, told)

    def lines(self, run: str) -> list[Line]:
        """What the stages of a run's last attempt said, as far as this process keeps it."""
        return self._lines.of(run)

    def end_stage(self, worker: str, run: str, end: StageEnd) -> None:
        """Records the end of a stage, once."""

        def decide(state: State) -> list[AnyRecord]:
            found = self._leased(state, worker, run, end.lease)
            told = [(e.lease, e.stage) for e in found.events if e.event == "stage"]
            if (end.lease, end.stage) in told:
                return []
            event = RunEventRecord(
                id=new_id(RunEventRecord.prefix),
                by=worker,
                run=run,
                event="stage",
                lease=end.lease,
                stage=end.stage,
                seconds=end.seconds,
            )
            return [event]

        self._ledger.transact(decide)

    def fail(self, worker: str, run: str, failure: Failure) -> None:
        """Records that the run ended without a score, or goes back to the queue where its worker
        was stopped. Saying it again changes nothing."""

        def decide(state: State) -> list[AnyRecord]:
            current = state.runs.get(run)
            if current and _is_told(current, worker, failure.lease):
                return []
            found = self._leased(state, worker, run, failure.lease)
            if failure.code == WORKER_STOPPED:
                return [lost(found, worker, failure.code, failure.reason)]
            return [failure_event(run, worker, failure.fault, failure.code, failure.reason)]

        self._ledger.transact(decide)

    def report(self, worker: str, run: str, lease: str, content: bytes) -> None:
        """Scores the run by its report, or fails it where too much is missing.

        Sending the same report again after a lost answer changes nothing.

        Raises:
            BadReport: the report is not this run's, or not of its shape.
            LeaseLost: the run is no longer this worker's.
        """

        def decide(state: State) -> list[AnyRecord]:
            current = state.runs.get(run)
            if current and current.report and (current.worker, current.lease) == (worker, lease):
                return []
            found = self._leased(state, worker, run, lease)
            challenge = self._challenges.challenges.get(found.record.challenge)
            if challenge is None:
                reason = "The arena no longer has its challenge."
                return [failure_event(run, worker, "platform", "challenge_gone", reason)]
            result = score(parse_report(content, found), found, challenge, worker)
            if isinstance(result, Void):
                return [failure_event(run, worker, "platform", "void", result.reason)]
            return [result]

        self._ledger.transact(decide)

    def _can_lease(self, ready: Ready) -> bool:
        """A look at the state in memory, so that an idle poll writes nothing and locks nothing."""
        state = self._ledger.state
        return _run_of(state, ready.lease) is not None or self._next(state, ready) is not None

    def _next(self, state: State, ready: Ready) -> Run | None:
        """The run that has waited longest of those that this worker can execute."""
        waiting = (run for run in state.queue() if run.record.challenge not in ready.unfit)
        return next((run for run in waiting if self._can_run(state, run)), None)

    def _can_run(self, state: State, run: Run) -> bool:
        return self._takes_leases(state, run.record.challenge)

    def _require_leased(self, worker: str, run: str, lease: str) -> None:
        """Asks the store where another process may have leased the run, unread here yet.

        Raises:
            LeaseLost: the run is no longer this worker's.
        """
        self._ledger.require(lambda state: self._leased(state, worker, run, lease))

    def _leased(self, state: State, worker: str, run: str, lease: str) -> Run:
        """The run, where it is this worker's: leases stand in public records and prove nothing."""
        found = state.runs.get(run)
        if found is None:
            raise UnknownRun(run=run[:80])
        own = found.worker == worker and found.lease is not None and found.lease == lease
        if found.state != "running" or not own:
            raise LeaseLost(run=run, state=found.state)
        return found


def _run_of(state: State, lease: str) -> Run | None:
    """The running run that a lease is for."""
    running = (run for run in state.runs.values() if run.state == "running")
    return next((run for run in running if run.lease == lease), None)


def _is_told(run: Run, worker: str, lease: str) -> bool:
    """Whether the worker's own failure is on record already."""
    if run.requeued and (run.requeued.by, run.requeued.lease) == (worker, lease):
        return True
    own = (run.worker, run.lease) == (worker, lease)
    return own and run.failure is not None and run.failure.by == worker


def lost(run: Run, by: str, code: str, reason: str) -> RunEventRecord:
    """What becomes of a run whose worker is gone: it is queued again, once; then it fails."""
    if run.requeued:
        return failure_event(run.record.id, by, "platform", code, reason)
    return RunEventRecord(
        id=new_id(RunEventRecord.prefix),
        by=by,
        run=run.record.id,
        event="requeued",
        lease=run.lease,
        code=code,
        reason=reason,
    )


def failure_event(run: str, by: str, fault: Fault, code: str, reason: str) -> RunEventRecord:
    """The end of a run without a score."""
    return RunEventRecord(
        id=new_id(RunEventRecord.prefix),
        by=by,
        run=run,
        event="failed",
        fault=fault,
        code=code,
        reason=reason,
    )
