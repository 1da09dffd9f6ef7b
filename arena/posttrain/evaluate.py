"""Measuring a model on the suite: the same tasks, trials, seeds and settings in both arms.

What is in here knows the suite's secrets; what it returns does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from arena.challenges import Evaluation
from arena.packages import TaskPackage
from arena.posttrain.commands import command_in
from arena.posttrain.events import Progress
from arena.posttrain.gate import SOLVED
from arena.posttrain.model import Policy
from arena.posttrain.seeds import opaque_id, trial_seed
from arena.posttrain.trials import TrialRunner, agent_of
from arena.report import Arm, Trial
from arena.sandbox import Agent, TrialResult, oracle


@dataclass(frozen=True)
class HeldOutTask:
    """A suite task as this run knows it."""

    package: TaskPackage
    id: str
    oracle_passed: bool
    """Whether its oracle scored 1.0 in this run: then no reward is the agent's doing."""


class Score(NamedTuple):
    reward: float | None
    """None: missing data."""
    errored: bool
    """Scored 0 for what the agent brought about."""


def prepare_suite(
    packages: Sequence[TaskPackage], key: bytes, runner: TrialRunner, progress: Progress
) -> list[HeldOutTask]:
    """Builds the suite's images and runs its oracles."""

    def prepare(package: TaskPackage) -> HeldOutTask:
        runner.sandbox.build(package)
        result = runner.trial(package, oracle())
        passed = result.reward is not None and result.reward >= SOLVED
        return HeldOutTask(package, opaque_id(key, package.name), passed)

    return runner.side_by_side([partial(prepare, package) for package in packages], progress)


def evaluate(
    arm: Arm,
    policy: Policy,
    suite: Sequence[HeldOutTask],
    settings: Evaluation,
    max_new_tokens: int,
    runner: TrialRunner,
    progress: Progress,
) -> list[Trial]:
    """Every trial of one arm, in the order of tasks and trials."""
    attempts = [
        (task, trial, agent_of(command_in(answer)))
        for task in suite
        for trial, answer in enumerate(_answers(policy, task, settings, max_new_tokens))
    ]
    scores = runner.side_by_side(
        [partial(_score, task, agent, runner) for task, _, agent in attempts],
        progress,
    )
    return [
        Trial(
            task=task.id,
            domain=task.package.domain,
            arm=arm,
            trial=trial,
            reward=score.reward,
            errored=score.errored,
        )
        for (task, trial, _), score in zip(attempts, scores, strict=True)
    ]


def _answers(
    policy: Policy, task: HeldOutTask, settings: Evaluation, max_new_tokens: int
) -> list[str]:
    seeds = [
        trial_seed(settings.seed, task.package.name, trial) for trial in range(settings.trials)
    ]
    return policy.answers(task.package.prompt, seeds, settings.temperature, max_new_tokens)


def _score(task: HeldOutTask, agent: Agent, runner: TrialRunner) -> Score:
    def attempt() -> TrialResult:
        return runner.trial(task.package, agent)

    return settle(attempt(), attempt, task.oracle_passed)


def settle(first: TrialResult, again: Callable[[], TrialResult], oracle_passed: bool) -> Score:
    """What a suite trial counts as. What the agent can't cause is missing; what it can is a 0.

    Args:
        first: the trial's outcome.
        again: gives the outcome of one more verification, in a fresh container.
        oracle_passed: whether the task's oracle scored 1.0 in this run.
    """
    result = again() if first.fault == "verifier" else first
    if result.fault == "platform":
        return Score(None, errored=False)
    if result.fault == "agent":
        return Score(0.0, errored=True)
    if result.fault == "verifier":
        return Score(0.0, errored=True) if oracle_passed else Score(None, errored=False)
    return Score(result.reward, errored=False)
