"""The gate: which training tasks are sound enough to train on.

It is no near copy of a held-out task, its image builds, its oracle scores 1.0, and its untouched
environment does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from arena.nearcopies import NearCopy, compare, open_index
from arena.packages import TaskPackage
from arena.posttrain.events import WordyProgress
from arena.posttrain.faults import AuthorFault, PlatformFault
from arena.posttrain.trials import Crew
from arena.report import GateResult
from arena.sandbox import Replay, Sandbox, replay

SHOWN_LINES = 20
"""The last lines that are shown of what a build, an oracle or a verifier said."""


@dataclass(frozen=True)
class Gated:
    """What the gate found, and the tasks that passed it."""

    results: tuple[GateResult, ...]
    passed: tuple[TaskPackage, ...]

    @classmethod
    def of(cls, packages: Sequence[TaskPackage], results: Sequence[GateResult]) -> Gated:
        """`results` are those of `packages`, in their order."""
        both = zip(packages, results, strict=True)
        return cls(tuple(results), tuple(package for package, result in both if result.ok))


def near_copies(
    packages: Sequence[TaskPackage], suite: Sequence[TaskPackage]
) -> dict[str, GateResult]:
    """The training tasks that are too close to one of the real suite's, by name."""
    found = compare((p.root for p in packages), [open_index(task.root for task in suite)])
    return {near.package: _too_close(near) for near in found.copies}


def run_gate(
    packages: Sequence[TaskPackage],
    copies: Mapping[str, GateResult],
    min_tasks: int,
    crew: Crew,
    progress: WordyProgress,
) -> Gated:
    """Tries every training task but the near copies of held-out ones.

    Raises:
        AuthorFault: fewer than `min_tasks` passed.
        PlatformFault: a trial could not be run at all.
    """
    tried = [package for package in packages if package.name not in copies]
    progress.expect(len(tried))
    for name, result in copies.items():
        progress.say(f"{name}: left out: {result.reason}")
    checks = [partial(_check, package, crew.sandbox, progress) for package in tried]
    found = {result.package: result for result in crew.do(checks, progress)}
    gated = Gated.of(packages, [({**found, **copies})[package.name] for package in packages])
    if (passed := len(gated.passed)) < min_tasks:
        raise AuthorFault("too_few_tasks", _too_few(gated.results, passed, min_tasks))
    return gated


def _too_close(near: NearCopy) -> GateResult:
    likeness = near.likeness
    reason = (
        f"too close to a held-out task: what matched is the {likeness.part}, similarity "
        f"{likeness.similarity:.1f}, refused from {likeness.threshold:.2f} on"
    )
    return GateResult(package=near.package, ok=False, oracle=None, untouched=None, reason=reason)


def _check(package: TaskPackage, sandbox: Sandbox, progress: WordyProgress) -> GateResult:
    found = replay(sandbox, package)
    progress.say(in_words(package.name, found))
    return gate_result(package.name, found)


def in_words(name: str, found: Replay) -> str:
    """What came of a task at the gate, with the end of what there is to read where it failed."""
    if found.verdict == "proven":
        return f"{name}: built and proven in {found.seconds:.1f} s"
    lines = [f"{name}: left out, {found.verdict}: {found.reason}"]
    for who, text in found.outputs.items():
        told = [line for line in text.splitlines() if line.strip()]
        lines += [f"{name}: {who}: {line}" for line in told[-SHOWN_LINES:]]
    return "\n".join(lines)


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
