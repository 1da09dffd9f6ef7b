"""What both of TRL's trainers are given."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import PrinterCallback, TrainerCallback

from arena.challenges import Recipe
from arena.posttrain.model import Policy


def common_arguments(recipe: Recipe, output: Path, seed: int) -> dict[str, Any]:
    return {
        "output_dir": str(output),
        "seed": seed,
        "use_cpu": recipe.device == "cpu",
        "bf16": recipe.dtype == "bfloat16",
        "full_determinism": False,  # the run has set determinism for the whole process
        "lr_scheduler_type": "constant",
        "gradient_checkpointing": False,
        "dataloader_pin_memory": False,
        "logging_strategy": "steps",
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
    }


@dataclass(frozen=True)
class Update:
    """One step of the optimiser. `loss` None: it was not finite."""

    loss: float | None
    weights_changed: bool
    reward: float = 0.0
    groups_with_spread: int | None = None
    """Groups of attempts whose rewards differed: only those teach anything. None: not GRPO."""

    @property
    def counts(self) -> bool:
        """Whether there was something to learn, the loss was finite, and the weights moved."""
        return self.loss is not None and self.weights_changed and self.groups_with_spread != 0

    def in_words(self, number: int) -> str:
        """The step in a line."""
        told = [f"loss {self.loss:.4f}" if self.loss is not None else "the loss is not finite"]
        if self.groups_with_spread is not None:
            told.append(f"reward {self.reward:.2f}")
            told.append(f"{self.groups_with_spread} groups with rewards that differ")
        if not self.weights_changed:
            told.append("the weights did not change")
        return f"step {number}: {', '.join(told)}"


def counting(steps: Sequence[Update]) -> int:
    """How many of the steps count."""
    return sum(step.counts for step in steps)


class Updates:
    """What the optimiser's steps did, one after another."""

    def __init__(self, policy: Policy) -> None:
        self.steps: list[Update] = []
        self._policy = policy
        self._digest = policy.trained_digest()

    def add(self, figures: dict[str, float], groups: int | None = None) -> Update:
        """Notes a step that was logged; `groups`: how many groups of attempts it was made of."""
        before, self._digest = self._digest, self._policy.trained_digest()
        loss = figures["loss"]
        spread = 1 - figures.get("frac_reward_zero_std", 0)
        step = Update(
            loss=loss if math.isfinite(loss) else None,
            weights_changed=self._digest != before,
            reward=figures.get("reward", 0.0),
            groups_with_spread=None if groups is None else round(groups * spread),
        )
        self.steps.append(step)
        return step


def train_quietly(trainer: Any, on_step: Callable[[dict[str, float]], None]) -> None:
    """Trains, with `on_step` called with the figures of every step."""
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(_OnStep(on_step))
    trainer.train()


class _OnStep(TrainerCallback):  # type: ignore[misc]
    def __init__(self, call: Callable[[dict[str, float]], None]) -> None:
        self._call = call

    def on_log(self, _args: Any, _state: Any, _control: Any, logs: Any = None, **_: Any) -> None:
        if logs and "train_runtime" not in logs:
            self._call(logs)
