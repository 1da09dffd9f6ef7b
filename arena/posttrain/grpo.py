"""GRPO with TRL: the reward is what a task's verifier says of the model's own attempt."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from arena.challenges import Recipe
from arena.packages import TaskPackage
from arena.posttrain.events import WordyProgress
from arena.posttrain.faults import AuthorFault, PlatformFault
from arena.posttrain.model import Policy
from arena.posttrain.rollouts import Attempt, Voice, roll_out
from arena.posttrain.seeds import trial_seed
from arena.posttrain.trainers import Updates, common_arguments, train_quietly
from arena.posttrain.trials import Crew
from arena.sandbox import TrialResult


def reinforce(
    policy: Policy,
    packages: Sequence[TaskPackage],
    voice: Voice,
    recipe: Recipe,
    seed: int,
    output: Path,
    crew: Crew,
    progress: WordyProgress,
) -> Updates:
    """Trains `policy` in place on the rewards of its own attempts.

    Raises:
        AuthorFault: a training task's verifier gave no valid reward.
        PlatformFault: a trial could not be run.
    """
    updates = Updates(policy)
    if not recipe.grpo.steps:
        return updates
    prompts = min(recipe.grpo.prompts_per_step, len(packages))
    progress.expect(recipe.grpo.steps * prompts * recipe.grpo.group_size)

    def on_step(figures: dict[str, float]) -> None:
        progress.say(updates.add(figures, prompts).in_words(len(updates.steps)))
        progress.beat()

    with warnings.catch_warnings():
        # TRL calls rollout_func experimental; its version is pinned.
        warnings.filterwarnings("ignore", message=".*rollout_func.*")
        trainer = GRPOTrainer(
            model=policy.model,
            reward_funcs=verified,
            rollout_func=Rollouts(packages, voice, seed, crew, progress),
            args=_arguments(recipe, prompts, seed, output),
            train_dataset=Dataset.from_list([{"prompt": package.name} for package in packages]),
            processing_class=policy.tokenizer,
        )
    train_quietly(trainer, on_step)
    return updates


def _arguments(recipe: Recipe, prompts: int, seed: int, output: Path) -> Any:
    settings = recipe.grpo
    sequences = settings.group_size * prompts
    batch = min(settings.batch_size or sequences, sequences)
    return GRPOConfig(
        max_steps=settings.steps,
        learning_rate=settings.learning_rate,
        num_generations=settings.group_size,
        per_device_train_batch_size=batch,
        gradient_accumulation_steps=sequences // batch,
        max_completion_length=recipe.generation.max_tokens,
        temperature=settings.temperature,
        beta=settings.beta,
        epsilon_high=settings.epsilon_high,
        loss_type="dapo",
        scale_rewards="group",
        **common_arguments(recipe, output, seed),
    )


class Rollouts:
    """TRL's rollout function. Its prompts are the tasks' names: what the model is asked, and every
    id and mask of what it answers, comes from the arena's own loop."""

    def __init__(
        self,
        packages: Sequence[TaskPackage],
        voice: Voice,
        seed: int,
        crew: Crew,
        progress: WordyProgress,
    ) -> None:
        self._packages = {package.name: package for package in packages}
        self._voice, self._seed = voice, seed
        self._crew, self._progress = crew, progress
        self._round = 0

    def __call__(self, names: list[str], _trainer: Any) -> dict[str, Any]:
        self._round += 1
        packages = [self._packages[name] for name in names]
        attempts = [
            Attempt(package, trial_seed(self._seed, f"grpo {self._round} {package.name}", place))
            for place, package in enumerate(packages)
        ]
        voice = self._voice
        turns = voice.turns(attempts)
        made = roll_out(packages, turns, voice.dialect, voice.limits, self._crew, self._progress)
        rewards = [training_reward(name, r.result) for name, r in zip(names, made, strict=True)]
        for name in dict.fromkeys(names):
            own = [r for other, r in zip(names, rewards, strict=True) if other == name]
            told = f"mean reward {sum(own) / len(own):.2f} of {len(own)} attempts"
            self._progress.say(f"{name}: {told}")
        self._progress.reward_so_far = sum(rewards) / len(rewards)
        return {
            "prompt_ids": [rollout.prompt_ids for rollout in made],
            "completion_ids": [rollout.completion_ids for rollout in made],
            "logprobs": None,
            "env_mask": [rollout.mask for rollout in made],
            "verdict": rewards,
        }


def verified(verdict: list[float], **_: Any) -> list[float]:
    """TRL's reward function: what the verifiers said of the rollouts."""
    return verdict


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
