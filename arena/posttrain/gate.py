"""The gate: which training tasks are sound enough to train on.

Its image builds, its oracle scores 1.0, and its untouched environment does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from arena.packages import TaskPackage
from arena.posttrain.events import Progress
from arena.posttrain.faults import AuthorFault, PlatformFault
from arena.posttrain.trials import Crew
from arena.report import GateResult
from arena.sandbox import BuildError, EngineError, Sandbox, TrialResult, oracle, untouched

SOLVED = 1.0


@dataclass(frozen=True)
class Gated:
    """What the gate found, and the tasks that passed it."""

    results: tuple[GateResult, ...]
    passed: tuple[TaskPackage, ...]


def run_gate(
    packages: Sequence[TaskPackage],
    min_tasks: int,
    crew: Crew,
    progress: Progress,
) -> Gated:
    """Tries every training task.

    Raises:
        AuthorFault: fewer than `min_tasks` passed.
        PlatformFault: a trial could not be run at all.
    """
    progress.expect(len(packages))
    checks = [partial(_check, package, crew.sandbox) for package in packages]
    results = tuple(crew.do(checks, progress))
    passed = tuple(p for p, result in zip(packages, results, strict=True) if result.ok)
    if len(passed) < min_tasks:
        raise AuthorFault("too_few_tasks", _too_few(results, len(passed), min_tasks))
    return Gated(results, passed)


def _check(package: TaskPackage, sandbox: Sandbox) -> GateResult:
    try:
        sandbox.build(package)
    except EngineError as exc:
        raise PlatformFault("engine_failed", f"The engine failed at a build: {exc}") from exc
    except BuildError as exc:
        reason = str(exc)
        return GateResult(
            package=package.name, ok=False, oracle=None, untouched=None, reason=reason
        )
    return judge(
        package.name, sandbox.trial(package, oracle()), sandbox.trial(package, untouched())
    )


def judge(name: str, solved: TrialResult, idle: TrialResult) -> GateResult:
    """The verdict on a task from its oracle trial and its untouched trial."""
    for trial in (solved, idle):
        if trial.fault == "platform":
            raise PlatformFault("gate_trial_failed", f"A trial of {name} could not be run.")
    reason = ""
    if solved.reward is None:
        reason = f"the verifier gave no valid reward for the oracle: {solved.detail}"
    elif solved.reward < SOLVED:
        reason = f"the oracle scores {solved.reward:g}, not 1.0"
    elif idle.reward is None:
        reason = f"the verifier gave no valid reward for the untouched environment: {idle.detail}"
    elif idle.reward >= SOLVED:
        reason = "the untouched environment scores 1.0: the task is solved before it begins"
    return GateResult(
        package=name, ok=not reason, oracle=solved.reward, untouched=idle.reward, reason=reason
    )


def _too_few(results: Sequence[GateResult], passed: int, min_tasks: int) -> str:
    lines = [f"{r.package}: {r.reason}" for r in results if not r.ok]
    return "\n".join(
        [f"{passed} of {len(results)} tasks passed the gate; {min_tasks} are needed.", *lines]
    )
