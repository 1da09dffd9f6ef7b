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
from arena.sandbox import Replay, Sandbox, replay


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
    return gate_result(package.name, replay(sandbox, package))


def gate_result(name: str, found: Replay) -> GateResult:
    """A replay as the gate's verdict.

    Raises:
        PlatformFault: the engine failed, which is nobody's fault.
    """
    if found.verdict == "no engine":
        raise PlatformFault("gate_trial_failed", f"The engine failed at {name}: {found.reason}")
    return GateResult(
        package=name,
        ok=found.verdict == "proven",
        oracle=found.oracle[0] if found.oracle else None,
        untouched=found.untouched[0] if found.untouched else None,
        reason=found.reason,
    )


def _too_few(results: Sequence[GateResult], passed: int, min_tasks: int) -> str:
    lines = [f"{r.package}: {r.reason}" for r in results if not r.ok]
    return "\n".join(
        [f"{passed} of {len(results)} tasks passed the gate; {min_tasks} are needed.", *lines]
    )
