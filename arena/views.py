"""What pages, API and command line show of a challenge, a submission, a run: one shape for all."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from arena.checking import Progress, SubmissionState
from arena.records import (
    ClaimRecord,
    CopyRow,
    DomainRow,
    FindingRow,
    PackageRow,
    ReplayRecord,
    ReplayRow,
    StageRow,
    TaskRow,
    TwinRow,
    ValidationRecord,
    VersionRow,
    WithdrawalRecord,
    unpacked,
)
from arena.report import STAGES, CurvePoint, GateResult, Report
from arena.runs.live import Left, LiveRun
from arena.runs.replays import LiveReplay
from arena.state import Run, RunState, Submission
from arena.validation import Unentered

StageStatus = Literal["waiting", "running", "stopped", "done"]
ShownState = SubmissionState | Literal["withdrawn"]


class View(BaseModel):
    model_config = ConfigDict(frozen=True)


class WritesView(View):
    """How many writes wait for a commit, and the seconds until the next one is due."""

    waiting: int
    seconds: float
    text: str


class ChallengeView(View):
    """A challenge now: whether it takes runs, and why not."""

    id: str
    title: str
    summary: str
    state: Literal["open", "paused", "closed"]
    reason: str
    changed_by: str | None
    changed_at: datetime | None
    takes_runs: bool
    why_not: str | None
    workers: int
    queued: int
    running: int
    base_model: str
    suite: str
    recipe: str
    trials: int
    runs_per_collection: int
    budget_hours: float
    used_hours: float
    reserved_hours: float


class ConditionView(View):
    """One condition of a launch. `skip`: it can't be said now, and does not keep it back."""

    name: str
    outcome: Literal["ok", "fail", "skip"]
    code: str | None = None
    why: str = ""


class PreflightView(View):
    """Whether a run may be launched now, condition by condition."""

    submission: str
    challenge: str
    ready: bool
    conditions: list[ConditionView]


class ReplayView(View):
    """How far the organizers' replay of a valid submission's content is; `text` says it in words.

    `done` and `total` count packages.
    """

    state: Literal["waiting", "running", "done"]
    text: str
    proven: int = 0
    done: int = 0
    total: int
    by: str | None = None
    at: datetime | None = None


class ReplayDetail(ReplayView):
    """A replay with what came out for each package."""

    packages: list[ReplayRow] = []
    software: list[VersionRow] = []


class WithdrawalView(View):
    """That an author took a submission out, and why."""

    reason: str
    by: str
    at: datetime


class ClaimView(View):
    """A claim that an editor settled: since then it is `author`'s."""

    author: str
    reason: str
    by: str
    at: datetime


class CheckView(View):
    """The arena's check of a source now."""

    id: str
    state: ShownState
    source: str
    commit: str
    by: str
    at: datetime
    packages: int
    collection: str | None
    code: str | None
    reason: str | None
    findings: list[FindingRow]
    package_rows: list[PackageRow]
    stages: list[StageRow]
    rules: str | None
    near_copies: str | None
    copies: list[CopyRow] = Field(description="packages too close to a held-out task")
    twins: list[TwinRow] = Field(description="packages that are near copies of each other")
    waiting_until: datetime | None = Field(description="when a waiting check goes on by itself")
    waits_for: str | None


class ValidationView(CheckView):
    """A validation that enters nothing; `challenge`: whose caps and gate it was checked by."""

    challenge: str | None


class SubmissionView(CheckView):
    """A submission now. `by` entered it; `author` differs where a claim was settled."""

    title: str
    runs: list[str]
    replay: ReplayView | None = Field(description="null unless it is valid, or was replayed")
    author: str
    withdrawal: WithdrawalView | None
    claims: list[ClaimView]


class SubmissionDetail(SubmissionView):
    """A submission with what its replay found."""

    replay: ReplayDetail | None


class StageView(View):
    """A run's stage: its status, and how much of it is done.

    `stopped` is the one in which a worker's run failed or was cancelled.
    """

    stage: str
    status: StageStatus
    seconds: float | None = None
    done: int = 0
    total: int = 0
    reward: float | None = None
    seconds_left: float | None = Field(default=None, description="estimated; null: not known yet")


class LineView(View):
    """A line that a run's stage said; a gap in the numbers is what was left out."""

    number: int
    stage: str
    text: str


class FailureView(View):
    """How a run ended without a score; `counts`: among those that its collection may have."""

    code: str
    fault: str | None
    counts: bool
    reason: str
    by: str
    at: datetime


class RequeuedView(View):
    """That a run lost its worker and went back to the queue."""

    code: str
    reason: str
    at: datetime


class ReviewView(View):
    verdict: str
    reason: str
    by: str
    at: datetime


class ReleaseView(View):
    repo: str
    commit: str
    folder: str


class RunView(View):
    """A run now. Figures in fractions, changes in pp."""

    id: str
    state: RunState
    challenge: str
    submission: str
    title: str
    collection: str
    by: str
    at: datetime
    place: int | None = Field(description="in the queue, from 1")
    held: str | None = Field(description="why no worker is given it, where it waits and none is")
    worker: str | None
    worker_alive: bool
    stages: list[StageView]
    seconds_left: float | None = Field(
        description="until the run's end, estimated; null: not known yet"
    )
    before: float | None
    after: float | None
    change_pp: float | None
    stderr_pp: float | None
    ci95_pp: tuple[float, float] | None
    coverage: float | None
    domains: list[DomainRow]
    tasks: list[TaskRow]
    requeued: RequeuedView | None = Field(description="it lost its worker, which it may once")
    failure: FailureView | None
    reviews: list[ReviewView]
    release: ReleaseView | None
    withdrawal: WithdrawalView | None = Field(description="of the submission")


class RunDetail(RunView):
    """A run with what its report says of gates, training and provenance."""

    gates: list[GateResult]
    reward_curve: list[CurvePoint]
    weights_changed: bool | None
    demonstrations: int | None
    sft_steps: int | None
    sft_updates: int | None
    grpo_steps: int | None
    grpo_updates: int | None
    provenance: dict[str, str]
    software: dict[str, str]
    resumed: list[str] = Field(description="stages that were whole before the run was requeued")


class CommonsEntry(View):
    """A released collection."""

    collection: str
    title: str
    author: str
    source: str
    submission: str
    run: str
    repo: str
    commit: str
    folder: str
    released_at: datetime
    packages: list[PackageRow]
    withdrawal: WithdrawalView | None = Field(description="what is released stays released")


def replay_view(
    packages: int, record: ReplayRecord | None, live: LiveReplay | None, waits_for: str
) -> ReplayDetail:
    """A replay as it is shown: recorded, under way, or waiting for what `waits_for` says."""
    if record:
        proven = sum(row.verdict == "proven" for row in record.packages)
        return ReplayDetail(
            state="done",
            text=f"{proven} of {packages} oracles proven",
            proven=proven,
            done=packages,
            total=packages,
            by=record.by,
            at=record.at,
            packages=record.packages,
            software=record.software,
        )
    if live:
        text = f"Being replayed: {live.done} of {packages} packages done."
        return ReplayDetail(
            state="running", text=text, done=live.done, total=packages, by=live.worker
        )
    return ReplayDetail(state="waiting", text=waits_for, total=packages)


def submission_view(
    submission: Submission, progress: Progress, runs: list[str], replay: ReplayDetail | None
) -> SubmissionView:
    """A submission as it is shown in lists; `progress` counts until it has a validation."""
    return SubmissionView(**_submission_fields(submission, progress, runs, replay))


def submission_detail(
    submission: Submission, progress: Progress, runs: list[str], replay: ReplayDetail | None
) -> SubmissionDetail:
    """A submission as its own page shows it."""
    return SubmissionDetail(**_submission_fields(submission, progress, runs, replay))


def _submission_fields(
    submission: Submission, progress: Progress, runs: list[str], replay: ReplayDetail | None
) -> dict[str, object]:
    record = submission.record
    return {
        "id": record.id,
        "title": record.title,
        "source": record.source,
        "commit": record.commit,
        "by": record.by,
        "at": record.at,
        "runs": runs,
        "replay": replay,
        **_check_fields(submission.validation, progress),
        **({"state": "withdrawn"} if submission.withdrawal else {}),
        "author": submission.author,
        "withdrawal": withdrawal_view(submission.withdrawal),
        "claims": [claim_view(claim) for claim in submission.claims],
    }


def validation_view(tried: Unentered) -> ValidationView:
    """A validation that enters nothing, as it is shown to who asked for it."""
    return ValidationView(
        id=tried.id,
        source=str(tried.pinned),
        commit=tried.pinned.commit,
        by=tried.by,
        at=tried.at,
        challenge=tried.challenge,
        **_check_fields(tried.record, tried.progress),
    )


def _check_fields(validation: ValidationRecord | None, progress: Progress) -> dict[str, Any]:
    if validation is None:
        waits = progress.state == "waiting"
        return {
            "state": progress.state,
            "packages": 0,
            "collection": None,
            "code": None,
            "reason": None,
            "findings": [],
            "package_rows": [],
            "stages": list(progress.stages),
            "rules": None,
            "near_copies": None,
            "copies": [],
            "twins": [],
            "waiting_until": progress.waiting_until if waits else None,
            "waits_for": progress.waits_for if waits else None,
        }
    return {
        "state": validation.outcome,
        "packages": len(validation.packages),
        "collection": validation.collection,
        "code": validation.code,
        "reason": validation.reason,
        "findings": validation.findings,
        "package_rows": validation.packages,
        "stages": validation.stages,
        "rules": validation.rules,
        "near_copies": validation.near_copies,
        "copies": validation.copies,
        "twins": validation.twins,
        "waiting_until": None,
        "waits_for": None,
    }


def withdrawal_view(record: WithdrawalRecord | None) -> WithdrawalView | None:
    """A withdrawal as it is shown."""
    if record is None:
        return None
    return WithdrawalView(reason=record.reason, by=record.by, at=record.at)


def claim_view(record: ClaimRecord) -> ClaimView:
    """A settled claim as it is shown."""
    return ClaimView(author=record.author, reason=record.reason, by=record.by, at=record.at)


class RunNow(NamedTuple):
    """What is true of a run beside its records; its fields are as `RunView` has them."""

    place: int | None
    held: str | None
    live: LiveRun | None
    alive: bool


def run_view(run: Run, own: Submission, now: RunNow) -> RunView:
    """A run of the submission `own` as it is shown in lists."""
    return RunView(**_run_fields(run, own, now))


def run_detail(run: Run, own: Submission, now: RunNow) -> RunDetail:
    """A run as its own page shows it."""
    report = Report.model_validate_json(unpacked(run.report.report)) if run.report else None
    return RunDetail(
        **_run_fields(run, own, now),
        gates=list(report.gates) if report else [],
        reward_curve=list(report.training.reward_curve) if report else [],
        weights_changed=report.training.weights_changed if report else None,
        demonstrations=report.training.demonstrations if report else None,
        sft_steps=report.training.sft_steps if report else None,
        sft_updates=report.training.sft_updates if report else None,
        grpo_steps=report.training.grpo_steps if report else None,
        grpo_updates=report.training.grpo_updates if report else None,
        provenance=report.provenance if report else {},
        software=report.software if report else {},
        resumed=list(report.resumed) if report else [],
    )


def _run_fields(run: Run, own: Submission, now: RunNow) -> dict[str, object]:
    record, report, failure, live = run.record, run.report, run.failure, now.live
    ci95 = None
    if report and report.ci95_low_pp is not None and report.ci95_high_pp is not None:
        ci95 = (report.ci95_low_pp, report.ci95_high_pp)
    left = live.left(time.monotonic()) if live and run.state == "running" else Left()
    return {
        "id": record.id,
        "state": run.state,
        "challenge": record.challenge,
        "submission": record.submission,
        "title": own.record.title,
        "collection": record.collection,
        "by": record.by,
        "at": record.at,
        "place": now.place,
        "held": now.held,
        "worker": run.worker,
        "worker_alive": now.alive,
        "stages": _stages(run, live, left),
        "seconds_left": left.run,
        "before": report.before if report else None,
        "after": report.after if report else None,
        "change_pp": report.change_pp if report else None,
        "stderr_pp": report.stderr_pp if report else None,
        "ci95_pp": ci95,
        "coverage": report.coverage if report else None,
        "domains": report.domains if report else [],
        "tasks": report.tasks if report else [],
        "requeued": run.requeued
        and RequeuedView(
            code=run.requeued.code or "",
            reason=run.requeued.reason or "",
            at=run.requeued.at,
        ),
        "failure": failure
        and FailureView(
            code=failure.code or failure.event,
            fault=failure.fault,
            counts=run.costs_author,
            reason=failure.reason or "",
            by=failure.by,
            at=failure.at,
        ),
        "reviews": [
            ReviewView(verdict=r.verdict, reason=r.reason, by=r.by, at=r.at) for r in run.reviews
        ],
        "release": run.release
        and ReleaseView(
            repo=run.release.repo, commit=run.release.commit, folder=run.release.folder
        ),
        "withdrawal": withdrawal_view(own.withdrawal),
    }


def _stages(run: Run, live: LiveRun | None, left: Left) -> list[StageView]:
    own = [e for e in run.events if e.event == "stage" and e.lease == run.lease]
    ended = {e.stage: e.seconds for e in own}
    beat = live.beat if live and run.state == "running" else None
    stopped = next((s for s in STAGES if s not in ended), None) if run.failure else None
    views = []
    for stage in STAGES:
        if stage == stopped and run.worker:
            views.append(StageView(stage=stage, status="stopped"))
        elif stage in ended:
            views.append(StageView(stage=stage, status="done", seconds=ended[stage]))
        elif beat and beat.stage == stage:
            views.append(
                StageView(
                    stage=stage,
                    status="running",
                    done=beat.done,
                    total=beat.total,
                    reward=beat.reward,
                    seconds_left=left.stage,
                )
            )
        else:
            views.append(StageView(stage=stage, status="waiting"))
    return views
