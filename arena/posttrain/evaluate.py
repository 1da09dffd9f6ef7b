"""Measuring a model on the suite: the same tasks, trials, seeds and settings in both arms.

What is in here knows the suite's secrets; what it returns does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from arena.challenges import Evaluation
from arena.packages import TaskPackage
from arena.posttrain.events import Progress
from arena.posttrain.faults import PlatformFault
from arena.posttrain.rollouts import Attempt, Voice, roll_out
from arena.posttrain.seeds import opaque_id, trial_seed
from arena.posttrain.trials import Crew
from arena.report import Arm, Trial
from arena.sandbox import TrialResult, oracle
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

    def passes(package: TaskPackage) -> bool:
        result = crew.sandbox.trial(package, oracle())
        return result.reward is not None and result.reward >= SOLVED

    passed = crew.do([partial(passes, package) for package in packages], progress)
    ids = [opaque_id(key, package.name) for package in packages]
    return held_out(packages, key, dict(zip(ids, passed, strict=True)))


def held_out(
    packages: Sequence[TaskPackage], key: bytes, oracles: Mapping[str, bool]
) -> list[HeldOutTask]:
    """The suite's tasks, with what came of their oracles in this run, by opaque id."""
    ids = [opaque_id(key, package.name) for package in packages]
    return [HeldOutTask(p, id_, oracles[id_]) for p, id_ in zip(packages, ids, strict=True)]


def evaluate(
    arm: Arm,
    voice: Voice,
    suite: Sequence[HeldOutTask],
    settings: Evaluation,
    crew: Crew,
    progress: Progress,
) -> list[Trial]:
    """Every trial of one arm, in the order of tasks and trials."""
    tried = [(task, trial) for task in suite for trial in range(settings.trials)]
    attempts = [
        Attempt(task.package, trial_seed(settings.seed, task.package.name, trial))
        for task, trial in tried
    ]
    # A missing or invalid reward is looked for once more, in a fresh container.
    made = roll_out(
        [task.package for task, _ in tried],
        voice.turns(attempts),
        voice.dialect,
        voice.limits,
        crew,
        progress,
        verifications=2,
    )
    scores = [settle(r.result, t.oracle_passed) for (t, _), r in zip(tried, made, strict=True)]
    return [
        Trial(
            task=task.id,
            domain=task.package.domain,
            arm=arm,
            trial=trial,
            reward=score.reward,
            errored=score.errored,
        )
        for (task, trial), score in zip(tried, scores, strict=True)
    ]


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
