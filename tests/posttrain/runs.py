"""Runs of the demo challenge for tests: whole or tiny, on a real engine.

As a program it executes the tiny run of a folder until the middle of a stage, where it is killed.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from arena.challenges import Challenge, Recipe, load_challenges
from arena.posttrain import events
from arena.posttrain.events import LineSink, StageEvent
from arena.posttrain.run import RunInputs, execute
from arena.report import Report
from arena.sandbox import Sandbox
from local.demo.tasks import write_collection, write_suite

SUITE_KEY = b"a key for tests"


def demo() -> tuple[Challenge, Recipe]:
    found = load_challenges(Path(__file__).resolve().parents[2] / "challenges")
    return found.challenges["demo"], found.recipes["demo"]


def tiny() -> tuple[Challenge, Recipe]:
    """The demo challenge with all numbers as small as they go."""
    challenge, recipe = demo()
    evaluation = challenge.evaluation.model_copy(update={"trials": 2})
    gates = challenge.gates.model_copy(update={"min_tasks": 2})
    grpo = recipe.grpo.model_copy(update={"steps": 2, "prompts_per_step": 2, "group_size": 4})
    return (
        challenge.model_copy(update={"evaluation": evaluation, "gates": gates}),
        recipe.model_copy(update={"grpo": grpo}),
    )


def run(
    challenge: Challenge,
    recipe: Recipe,
    base_model: Path,
    workdir: Path,
    engine: str,
    jobs: int = 4,
    on_line: LineSink = lambda _stage, _line: None,
    **sizes: Any,
) -> tuple[Report, list[StageEvent]]:
    """Executes one run; `tasks` among the sizes makes both sides so large."""
    tasks = sizes.get("tasks")
    counts = (tasks,) if tasks else ()
    write_collection(workdir / "collection", *counts)
    write_suite(workdir / "suite", *counts)
    told: list[StageEvent] = []
    inputs = inputs_of(challenge, recipe, base_model, workdir)
    with Sandbox(engine, jobs) as training, Sandbox(engine, jobs) as suite:
        return execute(inputs, training, suite, told.append, on_line=on_line), told


def inputs_of(challenge: Challenge, recipe: Recipe, base_model: Path, workdir: Path) -> RunInputs:
    """What decides a run whose collection and suite are in `workdir`."""
    return RunInputs(
        run_id="run-1",
        challenge=challenge,
        recipe=recipe,
        collection=workdir / "collection",
        suite=workdir / "suite",
        base_model=base_model,
        suite_key=SUITE_KEY,
        workdir=workdir,
        checkpoints=workdir / "checkpoints",
        teacher=None,
        pins={"collection_source": "hf:author/demo@0"},
    )


def killed_in(stage: str, base_model: Path, workdir: Path, engine: str) -> None:
    """Executes the tiny run in `workdir`, and ends this process once `stage` has begun its work."""

    def on_event(event: StageEvent) -> None:
        if event.stage == stage and (event.done or stage == "report"):
            os.kill(os.getpid(), signal.SIGKILL)

    events.PROGRESS_SECONDS = 0.0
    inputs = inputs_of(*tiny(), base_model, workdir)
    with Sandbox(engine) as training, Sandbox(engine) as suite:
        execute(inputs, training, suite, on_event)


if __name__ == "__main__":
    killed_in(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
