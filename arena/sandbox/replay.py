"""Replay: whether a package keeps its word. The oracle must score 1.0, the untouched must not."""

from __future__ import annotations

import time
from typing import Literal

from pydantic import BaseModel, ConfigDict

from arena.packages import TaskPackage
from arena.sandbox.agents import oracle, untouched
from arena.sandbox.errors import BuildError, EngineError
from arena.sandbox.results import TrialResult
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.verification import VERIFIED

SOLVED = 1.0

Verdict = Literal[
    "proven", "not built", "oracle fails", "untouched scores", "no reward", "flaky", "no engine"
]


class Replay(BaseModel):
    """What came out for one package.

    `oracle` and `untouched` have one reward a repeat, None where there was no valid one. `reason`
    is empty where the package is proven; `outputs` are then empty too, else what there is to read,
    by who said it: build, oracle, verifier. "no engine" is nobody's verdict: the engine failed, and
    the package may be tried again.
    """

    model_config = ConfigDict(frozen=True)

    verdict: Verdict
    reason: str = ""
    oracle: tuple[float | None, ...] = ()
    untouched: tuple[float | None, ...] = ()
    outputs: dict[str, str] = {}
    seconds: float = 0.0


def replay(sandbox: Sandbox, package: TaskPackage, repeat: int = 1) -> Replay:
    """Runs the oracle and the untouched environment, `repeat` times each."""
    began = time.monotonic()
    if reason := sandbox.unbuildable(package):
        return Replay(verdict="no engine", reason=reason)
    try:
        sandbox.build(package)
    except BuildError as exc:
        seconds, outputs = time.monotonic() - began, {"build": exc.log}
        return Replay(verdict="not built", reason=str(exc), outputs=outputs, seconds=seconds)
    except EngineError as exc:
        return Replay(verdict="no engine", reason=str(exc), seconds=time.monotonic() - began)
    solved = [sandbox.trial(package, oracle()) for _ in range(repeat)]
    idle = [sandbox.trial(package, untouched()) for _ in range(repeat)]
    return judge(solved, idle).model_copy(update={"seconds": time.monotonic() - began})


def judge(solved: list[TrialResult], idle: list[TrialResult]) -> Replay:
    """What the oracle's trials and the untouched environment's come to, without the time."""
    verdict, reason, culprit = _verdict(solved, idle)
    return Replay(
        verdict=verdict,
        reason=reason,
        oracle=tuple(trial.reward for trial in solved),
        untouched=tuple(trial.reward for trial in idle),
        outputs=_outputs(culprit) if culprit else {},
    )


def _verdict(
    solved: list[TrialResult], idle: list[TrialResult]
) -> tuple[Verdict, str, TrialResult | None]:
    """The verdict, its reason, and the trial to show for it."""
    for trial in [*solved, *idle]:
        if trial.fault == "platform":
            return "no engine", trial.detail, trial
    for what, trials in (("oracle", solved), ("untouched environment", idle)):
        missing = next((t for t in trials if t.reward is None), None)
        if missing:
            reason = f"the verifier gave no valid reward for the {what}: {missing.detail}"
            return "no reward", reason, missing
        rewards = sorted({t.reward for t in trials if t.reward is not None})
        if len(rewards) > 1:
            shown = ", ".join(f"{reward:g}" for reward in rewards)
            return "flaky", f"the {what} scores {shown} in {len(trials)} repeats", trials[0]
    worst, best = solved[0], idle[0]
    if worst.reward is not None and worst.reward < SOLVED:
        why = f" ({worst.detail})" if worst.detail not in {"", VERIFIED} else ""
        return "oracle fails", f"the oracle scores {worst.reward:g}, not 1.0{why}", worst
    if best.reward is not None and best.reward >= SOLVED:
        reason = "the untouched environment scores 1.0: the task is solved before it begins"
        return "untouched scores", reason, best
    return "proven", "", None


def _outputs(trial: TrialResult) -> dict[str, str]:
    """What a trial's oracle and its verifier said."""
    said = {f"oracle (exit {step.exit_code})": step.output for step in trial.steps}
    said["verifier"] = trial.verifier_output
    return {who: text for who, text in said.items() if text.strip()}
