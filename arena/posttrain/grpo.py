"""GRPO with TRL: the reward is what a task's verifier says about the model's command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from arena.challenges import Recipe
from arena.packages import TaskPackage
from arena.posttrain.commands import command_in
from arena.posttrain.events import Progress
from arena.posttrain.faults import AuthorFault, PlatformFault
from arena.posttrain.model import Policy, chat
from arena.posttrain.trainers import common_arguments, train_quietly
from arena.posttrain.trials import Crew, agent_of
from arena.report import CurvePoint
from arena.sandbox import TrialResult


@dataclass(frozen=True)
class Reinforced:
    steps: int
    curve: tuple[CurvePoint, ...]
    groups_with_spread: int
    """Groups whose rewards differed: only those teach anything."""


def reinforce(
    policy: Policy,
    packages: Sequence[TaskPackage],
    recipe: Recipe,
    seed: int,
    output: Path,
    crew: Crew,
    progress: Progress,
) -> Reinforced:
    """Trains `policy` in place on the rewards of its own commands.

    Raises:
        AuthorFault: a training task's verifier gave no valid reward.
        PlatformFault: a trial could not be run.
    """
    if not recipe.grpo.steps:
        return Reinforced(0, (), 0)
    prompts = min(recipe.grpo.prompts_per_step, len(packages))
    progress.expect(recipe.grpo.steps * prompts * recipe.grpo.group_size)
    trainer = GRPOTrainer(
        model=policy.model,
        reward_funcs=_Reward(packages, crew, progress),
        args=_arguments(recipe, prompts, seed, output),
        train_dataset=Dataset.from_list(
            [{"prompt": chat(package.prompt), "task": package.name} for package in packages]
        ),
        processing_class=policy.tokenizer,
    )
    history = train_quietly(trainer, lambda _figures: progress.beat())
    spread = sum(prompts * (1 - step["frac_reward_zero_std"]) for step in history)
    return Reinforced(
        steps=len(history),
        curve=tuple(CurvePoint(step=step["step"], reward=step["reward"]) for step in history),
        groups_with_spread=round(spread),
    )


def _arguments(recipe: Recipe, prompts: int, seed: int, output: Path) -> Any:
    settings = recipe.grpo
    return GRPOConfig(
        max_steps=settings.steps,
        learning_rate=settings.learning_rate,
        num_generations=settings.group_size,
        per_device_train_batch_size=settings.group_size * prompts,
        max_completion_length=recipe.generation.max_new_tokens,
        temperature=settings.temperature,
        beta=settings.beta,
        epsilon_high=settings.epsilon_high,
        loss_type="dapo",
        scale_rewards="group",
        **common_arguments(recipe, output, seed),
    )


class _Reward:
    """TRL's reward function: completions and the dataset's columns in, rewards out."""

    __name__ = "verifier"

    def __init__(self, packages: Sequence[TaskPackage], crew: Crew, progress: Progress) -> None:
        self._packages = {package.name: package for package in packages}
        self._crew = crew
        self._progress = progress

    def __call__(
        self, completions: list[list[dict[str, str]]], task: list[str], **_: Any
    ) -> list[float]:
        trials = [
            partial(
                self._crew.sandbox.trial,
                self._packages[name],
                agent_of(command_in(completion[0]["content"])),
            )
            for name, completion in zip(task, completions, strict=True)
        ]
        results = self._crew.do(trials, self._progress)
        rewards = [training_reward(*pair) for pair in zip(task, results, strict=True)]
        self._progress.reward_so_far = sum(rewards) / len(rewards)
        return rewards


def training_reward(task: str, result: TrialResult) -> float:
    """The reward of a training trial, whose missing reward is its author's fault."""
    if result.fault == "platform":
        raise PlatformFault("training_trial_failed", f"A trial of {task} could not be run.")
    if result.fault == "agent":
        return 0.0
    if result.reward is None:
        raise AuthorFault(
            "no_reward",
            f"The verifier of {task} gave no valid reward in training; let test.sh fail closed.",
        )
    return result.reward
