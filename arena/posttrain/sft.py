"""Supervised fine-tuning on verified demonstrations, with TRL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from datasets import Dataset
from trl import SFTConfig, SFTTrainer

from arena.challenges import Recipe
from arena.posttrain.events import WordyProgress
from arena.posttrain.model import Policy
from arena.posttrain.rollouts import Rollout
from arena.posttrain.trainers import Updates, common_arguments, train_quietly
from arena.posttrain.trials import Crew

_IGNORED = -100
"""The label of a token that is no part of the loss."""


def fine_tune(
    policy: Policy,
    demonstrations: Sequence[Rollout],
    recipe: Recipe,
    seed: int,
    output: Path,
    crew: Crew,
    progress: WordyProgress,
) -> Updates:
    """Trains `policy` in place. The loss is on the model's own turns only."""
    settings = recipe.sft
    updates = Updates(policy)
    if not demonstrations or not settings.epochs:
        return updates

    def on_step(figures: dict[str, float]) -> None:
        progress.say(updates.add(figures).in_words(len(updates.steps)))
        progress.advance()
        crew.check()

    arguments = SFTConfig(
        num_train_epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        per_device_train_batch_size=settings.batch_size,
        max_length=settings.max_length,
        **common_arguments(recipe, output, seed),
    )
    trainer = SFTTrainer(
        model=policy.model,
        args=arguments,
        train_dataset=Dataset.from_list([labelled(rollout) for rollout in demonstrations]),
        processing_class=policy.tokenizer,
    )
    progress.expect(settings.epochs * -(-len(demonstrations) // settings.batch_size))
    train_quietly(trainer, on_step)
    return updates


def labelled(rollout: Rollout) -> dict[str, list[int]]:
    """A demonstration as the ids that were exchanged, with the labels of the model's own."""
    own = [
        token if sampled else _IGNORED
        for token, sampled in zip(rollout.completion_ids, rollout.mask, strict=True)
    ]
    return {
        "input_ids": rollout.prompt_ids + rollout.completion_ids,
        "labels": [_IGNORED] * len(rollout.prompt_ids) + own,
    }
