"""Supervised fine-tuning on verified demonstrations, with TRL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from datasets import Dataset
from trl import SFTConfig, SFTTrainer

from arena.challenges import Recipe
from arena.posttrain.demonstrations import Demonstration
from arena.posttrain.events import Progress
from arena.posttrain.model import Policy
from arena.posttrain.trainers import common_arguments, train_quietly
from arena.posttrain.trials import Crew


def fine_tune(
    policy: Policy,
    demonstrations: Sequence[Demonstration],
    recipe: Recipe,
    seed: int,
    output: Path,
    crew: Crew,
    progress: Progress,
) -> int:
    """Trains `policy` in place; returns the number of steps. The loss is on the answers only."""
    settings = recipe.sft
    if not demonstrations or not settings.epochs:
        return 0

    def on_step(_figures: dict[str, float]) -> None:
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
        train_dataset=Dataset.from_list([dict(row) for row in demonstrations]),
        processing_class=policy.tokenizer,
    )
    progress.expect(settings.epochs * -(-len(demonstrations) // settings.batch_size))
    return len(train_quietly(trainer, on_step))
