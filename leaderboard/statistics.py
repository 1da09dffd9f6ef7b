"""What trials say: pass rates, the change between two arms, and how sure it is.

The standard error treats the suite's tasks as a sample of tasks: E. Miller, "Adding Error Bars to
Evals" (arXiv 2411.00640), the paired difference with clusters of one task. The interval uses
Student's t, since a suite may be small.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scipy import stats

from arena.report import Arm, Trial


class TaskRates(NamedTuple):
    """One task's mean pass rate in each arm, over its scored trials; None: none was scored."""

    task: str
    domain: str
    before: float | None
    after: float | None

    @property
    def difference(self) -> float | None:
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


class Change(NamedTuple):
    """A change in fractions. `stderr` and `ci95` are None below two tasks."""

    tasks: int
    before: float
    after: float
    change: float
    stderr: float | None
    ci95: tuple[float, float] | None


def task_rates(trials: Iterable[Trial], pass_threshold: float) -> list[TaskRates]:
    """Mean pass rate per task and arm; a trial passes when its reward reaches the threshold."""
    scores: dict[tuple[str, str], dict[Arm, list[float]]] = defaultdict(
        lambda: {"before": [], "after": []}
    )
    for trial in trials:
        arms = scores[trial.task, trial.domain]
        if trial.reward is not None:
            arms[trial.arm].append(float(trial.reward >= pass_threshold))
    return [
        TaskRates(task, domain, _mean(arms["before"]), _mean(arms["after"]))
        for (task, domain), arms in sorted(scores.items())
    ]


def change_over(rates: Sequence[TaskRates]) -> Change | None:
    """The change over the tasks that were scored in both arms; None where there is none."""
    pairs = [(r.before, r.after) for r in rates if r.before is not None and r.after is not None]
    if not pairs:
        return None
    before = math.fsum(before for before, _ in pairs) / len(pairs)
    after = math.fsum(after for _, after in pairs) / len(pairs)
    change = after - before  # the mean difference; written so, what is shown adds up exactly
    stderr = standard_error([after - before for before, after in pairs])
    return Change(
        tasks=len(pairs),
        before=before,
        after=after,
        change=change,
        stderr=stderr,
        ci95=interval95(change, stderr, len(pairs) - 1),
    )


def standard_error(values: Sequence[float]) -> float | None:
    """sqrt(Σ(dᵢ − mean)² / (n − 1) / n); None below two values."""
    n = len(values)
    if n < 2:
        return None
    mean = math.fsum(values) / n
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n)


def interval95(centre: float, stderr: float | None, degrees: float) -> tuple[float, float] | None:
    """The 95 % interval by Student's t with `degrees` of freedom."""
    if stderr is None:
        return None
    reach = float(stats.t.ppf(0.975, degrees)) * stderr
    return centre - reach, centre + reach


def missing_rate(trials: Iterable[Trial], arm: Arm) -> float:
    """The share of an arm's trials that are missing data."""
    own = [trial for trial in trials if trial.arm == arm]
    return sum(trial.reward is None for trial in own) / len(own) if own else 1.0


def mean_over_runs(differences: Sequence[dict[str, float]]) -> Change | None:
    """The mean change over several runs of one collection, each {task: difference}.

    Its variance adds the sampling of tasks (the spread of task means over runs) and the
    run-to-run spread (of the runs' own changes, where there are two or more).
    """
    if not differences:
        return None
    per_run = [math.fsum(run.values()) / len(run) for run in differences if run]
    tasks = sorted({task for run in differences for task in run})
    means = [
        math.fsum(run[task] for run in differences if task in run)
        / sum(task in run for run in differences)
        for task in tasks
    ]
    change = math.fsum(per_run) / len(per_run)
    of_tasks, of_runs = standard_error(means), standard_error(per_run)
    stderr = None if of_tasks is None else math.hypot(of_tasks, of_runs or 0.0)
    degrees = _degrees(of_tasks or 0.0, len(means), of_runs or 0.0, len(per_run))
    ci95 = interval95(change, stderr, degrees)
    return Change(len(tasks), math.nan, math.nan, change, stderr, ci95)


def _degrees(error_a: float, n_a: int, error_b: float, n_b: int) -> float:
    """Degrees of freedom of a sum of two independent variances (Welch-Satterthwaite)."""
    weight = sum(error**4 / (n - 1) for error, n in ((error_a, n_a), (error_b, n_b)) if n > 1)
    return (error_a**2 + error_b**2) ** 2 / weight if weight else max(n_a - 1, 1)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
