"""Measuring a model on the suite: the same tasks, trials, seeds and settings in both arms.

What is in here knows the suite's secrets; what it returns does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from arena.challenges import Evaluation
from arena.packages import TaskPackage
from arena.posttrain.commands import command_in
from arena.posttrain.events import Progress
from arena.posttrain.faults import PlatformFault
from arena.posttrain.model import Policy
from arena.posttrain.seeds import opaque_id, trial_seed
from arena.posttrain.trials import Crew, agent_of
from arena.report import Arm, Trial
from arena.sandbox import Agent, Sandbox, TrialResult, oracle
from arena.sandbox.replay import SOLVED


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
    packages: Sequence[TaskPackage], key: bytes, crew: Crew, progress: Progress
) -> list[HeldOutTask]:
    """Builds the suite's images and runs its oracles.

    Raises:
        PlatformFault: a task wants network, through which the suite could leave.
    """
    if any(package.allow_internet for package in packages):
        raise PlatformFault("suite_network", "A suite task asks for network; none may have it.")

    def prepare(package: TaskPackage) -> HeldOutTask:
        result = crew.sandbox.trial(package, oracle())
        passed = result.reward is not None and result.reward >= SOLVED
        return HeldOutTask(package, opaque_id(key, package.name), passed)

    return crew.do([partial(prepare, package) for package in packages], progress)


def evaluate(
    arm: Arm,
    policy: Policy,
    suite: Sequence[HeldOutTask],
    settings: Evaluation,
    max_new_tokens: int,
    crew: Crew,
    progress: Progress,
) -> list[Trial]:
    """Every trial of one arm, in the order of tasks and trials."""
    attempts = [
        (task, trial, agent_of(command_in(answer)))
        for task in suite
        for trial, answer in enumerate(_answers(policy, task, settings, max_new_tokens))
    ]
    scores = crew.do(
        [partial(_score, task, agent, crew.sandbox) for task, _, agent in attempts],
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


def _score(task: HeldOutTask, agent: Agent, sandbox: Sandbox) -> Score:
    # A missing or invalid reward is looked for once more, in a fresh container.
    result = sandbox.trial(task.package, agent, verifications=2)
    return settle(result, task.oracle_passed)


def settle(result: TrialResult, oracle_passed: bool) -> Score:
    """What a suite trial counts as: what the agent can't cause is missing, what it can is a 0.

    A verifier that gave the oracle its reward in this run, and gives none here, lost it to the
    agent.
    """
    match result.fault:
        case None:
            return Score(result.reward, errored=False)
        case "agent":
            return Score(0.0, errored=True)
        case "verifier" if oracle_passed:
            return Score(0.0, errored=True)
        case _:
            return Score(None, errored=False)
