"""A worker's report becomes a result: checked against the run, every figure computed anew."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from pydantic import ValidationError

from arena.challenges import Challenge
from arena.errors import BadReport
from arena.records import DomainRow, ReportRecord, TaskRow, new_id, packed
from arena.report import Arm, Report
from arena.state import Run
from leaderboard.statistics import TaskRates, change_over, missing_rate, task_rates

ARMS: tuple[Arm, Arm] = ("before", "after")
MAX_REPORT_BYTES = 16 * 1024 * 1024


class Void(NamedTuple):
    """A report that cannot be scored: too much of it is missing. `reason` says what."""

    reason: str


def parse_report(content: bytes, run: Run) -> Report:
    """The report of `run`.

    Raises:
        BadReport: too large, not of the report's shape, or another run's.
    """
    if len(content) > MAX_REPORT_BYTES:
        raise BadReport(run=run.record.id, problem=f"{len(content):,} bytes are too many")
    try:
        report = Report.model_validate_json(content)
    except ValidationError as exc:
        first = exc.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadReport(run=run.record.id, problem=f"{place}: {first['msg']}") from exc
    _require_own(report, run)
    return report


def score(report: Report, run: Run, challenge: Challenge, worker: str) -> ReportRecord | Void:
    """The result that the trials add up to.

    Raises:
        BadReport: the trials are not those of the challenge.
    """
    evaluation = challenge.evaluation
    _require_all_trials(report, evaluation.trials)
    missing = {arm: missing_rate(report.trials, arm) for arm in ARMS}
    coverage = 1 - max(missing.values())
    if coverage < evaluation.coverage_floor:
        floor = evaluation.coverage_floor
        return Void(f"only {coverage:.0%} of the trials were scored, and {floor:.0%} are needed")
    if abs(missing["before"] - missing["after"]) > evaluation.max_missing_gap:
        return Void("the two arms miss too different shares of their trials")
    rates = task_rates(report.trials, evaluation.pass_threshold)
    change = change_over(rates)
    if change is None:
        return Void("no task was scored in both arms")
    return ReportRecord(
        id=new_id(ReportRecord.prefix),
        by=worker,
        run=run.record.id,
        before=change.before,
        after=change.after,
        change_pp=change.change * 100,
        stderr_pp=None if change.stderr is None else change.stderr * 100,
        ci95_low_pp=change.ci95[0] * 100 if change.ci95 else None,
        ci95_high_pp=change.ci95[1] * 100 if change.ci95 else None,
        coverage=coverage,
        domains=domain_rows(rates),
        tasks=[TaskRow(**rate._asdict()) for rate in rates],
        report=packed(report.model_dump_json()),
    )


def domain_rows(rates: list[TaskRates]) -> list[DomainRow]:
    """The change of each domain that has a task scored in both arms."""
    by_domain: dict[str, list[TaskRates]] = defaultdict(list)
    for rate in rates:
        by_domain[rate.domain].append(rate)
    return [
        DomainRow(
            domain=domain,
            tasks=change.tasks,
            before=change.before,
            after=change.after,
            change_pp=change.change * 100,
        )
        for domain, own in sorted(by_domain.items())
        if (change := change_over(own)) is not None
    ]


def _require_own(report: Report, run: Run) -> None:
    expected = {
        "challenge_sha256": run.record.challenge_digest,
        "recipe_sha256": run.record.recipe_digest,
        "collection_sha256": run.record.collection,
    }
    if report.run != run.record.id:
        raise BadReport(run=run.record.id, problem=f"it is the report of {report.run!r}")
    for name, digest in expected.items():
        if report.provenance.get(name) != digest:
            raise BadReport(
                run=run.record.id, problem=f"its {name} is not the one that the run is pinned to"
            )


def _require_all_trials(report: Report, trials: int) -> None:
    """Both arms hold the same tasks, each with trials 0 … k − 1: none was left out."""
    seen: dict[tuple[str, str], set[int]] = defaultdict(set)
    domains: dict[str, set[str]] = defaultdict(set)
    for trial in report.trials:
        seen[trial.task, trial.arm].add(trial.trial)
        domains[trial.task].add(trial.domain)
    expected = set(range(trials))
    for task in domains:
        if len(domains[task]) > 1:
            raise BadReport(run=report.run, problem=f"task {task} has two domains")
        for arm in ARMS:
            if seen[task, arm] != expected:
                raise BadReport(
                    run=report.run,
                    problem=f"task {task} has {len(seen[task, arm])} trials {arm}, not {trials}",
                )
    if not domains:
        raise BadReport(run=report.run, problem="it holds no trial")
