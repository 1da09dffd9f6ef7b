"""Runs of the demo challenge: what each collection moved, how sure that is, and what it took.

    python -m bench.runs change [--seeds 0 1 2]    example, control and gamed verifiers, by seed
    python -m bench.runs cost                      trials at once, memory, and trials a minute
    python -m bench.runs gpu --model FOLDER        a tiny run of a recipe of the GPU host

Every trial is executed, in containers of the engine that this machine offers. `control` has as many
tasks as the example, all of one family. In `gamed` any task is solved by the same file, whatever
its prompt asks. `fresh` is the example measured on two other suites.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.challenges import Challenge, Recipe, load_challenges, load_file
from arena.posttrain.run import RunInputs, execute
from arena.report import Report
from arena.sandbox import Caps, Sandbox
from leaderboard.statistics import Change, change_over, task_rates
from local.baseimages import ensure_base_images
from local.demo.base_model import build
from local.demo.families import WRITE
from local.demo.tasks import COLLECTION_SIZE, SUITE_SIZE, write_collection, write_suite
from local.engine import ensure_engine

ROOT = Path(__file__).resolve().parents[1]
RECIPES = ROOT / "challenges" / "recipes"
COLUMNS = "| collection | seed | before % | after % | change pp | 95 % | seconds |"
JOBS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    change = commands.add_parser("change")
    change.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    commands.add_parser("cost")
    gpu = commands.add_parser("gpu")
    gpu.add_argument("--model", type=Path, required=True, help="the base model's folder")
    gpu.add_argument("--recipe", type=Path, default=RECIPES / "qwen3.5-9b-lora.yaml")
    asked = parser.parse_args()
    engine = engine_url()
    match asked.command:
        case "change":
            show_changes(engine, asked.seeds)
        case "cost":
            show_cost(engine)
        case "gpu":
            show_gpu(engine, asked.model, asked.recipe)


def example(folder: Path) -> None:
    """The collection that comes with the demo."""
    write_collection(folder)


def control(folder: Path) -> None:
    """As many tasks, of one family alone."""
    write_collection(folder, COLLECTION_SIZE, [WRITE])


def gamed(folder: Path) -> None:
    """The example's prompts, with verifiers that one and the same file satisfies."""
    for package in write_collection(folder):
        (package / "oracle" / "solve.sh").write_text("#!/bin/sh\ntouch /root/done\n")
        (package / "verifier" / "test.sh").write_text(
            "#!/bin/sh\nmkdir -p /logs/verifier\nreward=0\n"
            "if [ -e /root/done ]; then\n  reward=1\nfi\n"
            'echo "$reward" > /logs/verifier/reward.txt\n'
        )


Writes = Callable[[Path], object]
COLLECTIONS: dict[str, tuple[Writes, int]] = {
    "example": (example, 0),
    "example, fresh suite 1": (example, 1),
    "example, fresh suite 2": (example, 2),
    "control": (control, 0),
    "gamed": (gamed, 0),
}


def show_changes(engine: str, seeds: list[int]) -> None:
    """The table of every collection on every seed."""
    base_model = build(ROOT / ".local" / "cache" / "base-model")
    print(COLUMNS + "\n|---|--:|--:|--:|--:|--:|--:|")
    for name, (writes, fresh) in COLLECTIONS.items():
        for seed in seeds:
            challenge, recipe = demo(seed)
            with Sandbox(engine, JOBS) as training, suite_sandbox(engine, JOBS) as suite:
                made = run(challenge, recipe, base_model, (training, suite), writes, fresh)
            print(_row(name, seed, made), flush=True)


def show_cost(engine: str) -> None:
    """How far trials overlap, what memory a run takes, and how many trials a minute it makes."""
    base_model = build(ROOT / ".local" / "cache" / "base-model")
    rates: dict[int, float] = {}
    for jobs in (JOBS, 1):
        clock = Clock()
        challenge, recipe = demo(seed=0)
        if jobs == 1:  # the rate alone is wanted: an eighth of the measurement gives it
            evaluation = challenge.evaluation.model_copy(update={"trials": 2})
            grpo = recipe.grpo.model_copy(update={"steps": 2})
            challenge = challenge.model_copy(update={"evaluation": evaluation})
            recipe = recipe.model_copy(update={"grpo": grpo})
        with Sandbox(engine, jobs) as training, suite_sandbox(engine, jobs) as suite:
            made = run(challenge, recipe, base_model, (clock.on(training), clock.on(suite)))
        busy, together = clock.overlap()
        rates[jobs] = 60 * len(clock.times) / busy
        print(
            f"jobs {jobs}: {made.seconds:.0f} s, {len(clock.times)} trials in {busy:.0f} s of "
            f"containers, {together / busy:.0%} of it two or more at once, "
            f"{rates[jobs]:.0f} trials a minute"
        )
    print(f"{rates[JOBS] / rates[1]:.2f} times the serial loop")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"memory of this process: {peak:.2f} GB at most; containers have 128 MB each at most")


def show_gpu(engine: str, model: Path, file: Path) -> None:
    """A run of two tasks by a recipe of the organizers' compute: its stages, and what trained."""
    import torch

    challenge, _ = demo(seed=0)
    recipe = load_file(file, Recipe)
    small = {"steps": 2, "prompts_per_step": 2, "group_size": 4}
    recipe = recipe.model_copy(update={"grpo": recipe.grpo.model_copy(update=small)})
    measured = {"trials": 2, "max_turns": 4}
    evaluation = challenge.evaluation.model_copy(update=measured)
    gates = challenge.gates.model_copy(update={"min_tasks": 2})
    challenge = challenge.model_copy(update={"evaluation": evaluation, "gates": gates})
    with Sandbox(engine, JOBS) as training, suite_sandbox(engine, JOBS) as suite:
        made = run(challenge, recipe, model, (training, suite), example_of(2))
    print(COLUMNS + "\n" + _row(recipe.name, 0, made))
    for stage in made.report.stages:
        print(f"{stage.stage:>9} {stage.seconds:8.1f} s")
    trained = made.report.training
    print(f"updates that count: {trained.sft_updates} of {trained.sft_steps} by demonstrations")
    print(f"                    {trained.grpo_updates} of {trained.grpo_steps} by rewards")
    if torch.cuda.is_available():
        peak = torch.cuda.max_memory_allocated() / 2**30
        print(f"GPU memory of the trainer: {peak:.1f} GB at most; of the server: see nvidia-smi")


def example_of(tasks: int) -> Writes:
    """The first so many tasks of the example."""
    return lambda folder: write_collection(folder, tasks)


@dataclass(frozen=True)
class Made:
    """A run that ended, and how long it took."""

    report: Report
    change: Change
    seconds: float


def demo(seed: int) -> tuple[Challenge, Recipe]:
    """The demo challenge under another seed."""
    loaded = load_challenges(ROOT / "challenges")
    challenge = loaded.challenges["demo"]
    evaluation = challenge.evaluation.model_copy(update={"seed": seed})
    return challenge.model_copy(update={"evaluation": evaluation}), loaded.recipes["demo"]


def run(
    challenge: Challenge,
    recipe: Recipe,
    base_model: Path,
    sandboxes: tuple[Sandbox, Sandbox],
    writes: Writes = example,
    fresh: int = 0,
    suite_tasks: int = SUITE_SIZE,
) -> Made:
    """One run on the collection that `writes` writes."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        writes(root / "collection")
        write_suite(root / "suite", suite_tasks, fresh)
        inputs = RunInputs(
            run_id="bench",
            challenge=challenge,
            recipe=recipe,
            collection=root / "collection",
            suite=root / "suite",
            base_model=base_model,
            suite_key=b"bench" * 8,
            workdir=root,
            checkpoints=root / "checkpoints",
            teacher=None,
            pins={},
        )
        began = time.monotonic()
        report = execute(inputs, *sandboxes, lambda _event: None)
        seconds = time.monotonic() - began
    change = change_over(task_rates(report.trials, challenge.evaluation.pass_threshold))
    assert change is not None
    return Made(report, change, seconds)


@dataclass
class Clock:
    """When trials ran, over the threads that run them."""

    times: list[tuple[float, float]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def on(self, sandbox: Sandbox) -> Sandbox:
        """The same sandbox, its trials timed."""
        trial = sandbox.trial

        def timed(*arguments: Any, **options: Any) -> Any:
            began = time.monotonic()
            try:
                return trial(*arguments, **options)
            finally:
                with self._lock:
                    self.times.append((began, time.monotonic()))

        sandbox.trial = timed  # type: ignore[method-assign]
        return sandbox

    @staticmethod
    def cores() -> int:
        """How many trials this machine runs at full speed."""
        return len(os.sched_getaffinity(0))

    def overlap(self) -> tuple[float, float]:
        """Seconds in which one trial or more ran, and in which two or more did."""
        changes = sorted([(a, 1) for a, _ in self.times] + [(b, -1) for _, b in self.times])
        busy = together = 0.0
        running, before = 0, 0.0
        for moment, change in changes:
            busy += (moment - before) * (running >= 1)
            together += (moment - before) * (running >= 2)
            running, before = running + change, moment
        return busy, together


def _row(name: str, seed: int, made: Made) -> str:
    change = made.change
    low, high = (100 * end for end in change.ci95) if change.ci95 else (float("nan"),) * 2
    return (
        f"| {name} | {seed} | {change.before * 100:.1f} | {change.after * 100:.1f} "
        f"| {change.change * 100:+.1f} | {low:+.1f} to {high:+.1f} | {made.seconds:.0f} |"
    )


def suite_sandbox(engine: str, jobs: int) -> Sandbox:
    return Sandbox(engine, jobs, caps=Caps(network=False))


def engine_url() -> str:
    engine = ensure_engine(ROOT / ".local" / "docker")
    if engine.url is None:
        raise SystemExit(engine.reason)
    if engine.private:
        ensure_base_images(engine.url)
    return engine.url


if __name__ == "__main__":
    main()
