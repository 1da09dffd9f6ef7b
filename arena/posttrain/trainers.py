"""What both of TRL's trainers are given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import PrinterCallback, TrainerCallback

from arena.challenges import Recipe


def common_arguments(recipe: Recipe, output: Path, seed: int) -> dict[str, Any]:
    return {
        "output_dir": str(output),
        "seed": seed,
        "use_cpu": recipe.device == "cpu",
        "bf16": recipe.device != "cpu",
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


def train_quietly(
    trainer: Any, on_step: Callable[[dict[str, float]], None]
) -> list[dict[str, Any]]:
    """Trains, with `on_step` called at every logged step; returns the figures of the steps."""
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(_OnStep(on_step))
    trainer.train()
    history: list[dict[str, Any]] = trainer.state.log_history
    return [entry for entry in history if "train_runtime" not in entry]


class _OnStep(TrainerCallback):  # type: ignore[misc]
    def __init__(self, call: Callable[[dict[str, float]], None]) -> None:
        self._call = call

    def on_log(self, _args: Any, _state: Any, _control: Any, logs: Any = None, **_: Any) -> None:
        if logs and "train_runtime" not in logs:
            self._call(logs)
