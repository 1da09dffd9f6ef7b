"""How long a run takes and what it costs, by a simulation over times that were measured.

    python -m bench.scaling check    measures one run, predicts three others, and runs those
    python -m bench.scaling plan     predicts runs of the organizers' compute

`check` times one demo run: its trials, what lies between them, its updates. From these alone it
predicts three runs of other sizes, on as many trials at once or others, and then executes them.
`plan` takes the same simulation with times of a GPU host, which are assumed: each is printed.
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from arena.challenges import Challenge, Recipe
from arena.report import StageName
from arena.sandbox import Sandbox
from bench.runs import Clock, demo, engine_url, example_of, run, suite_sandbox
from local.demo.base_model import build

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Size:
    """What a run does: how many tasks and trials, and how many trials at once."""

    tasks: int
    suite: int
    trials: int
    steps: int
    prompts: int
    group: int
    jobs: int

    def batches(self) -> dict[StageName, list[int]]:
        """The trials of each stage that come at once; the next batch waits for the last."""
        return {
            "gate": [self.tasks],
            "baseline": [self.suite, self.suite * self.trials],
            "sft": [self.tasks],
            "grpo": [self.prompts * self.group] * self.steps,
            "final": [self.suite * self.trials],
        }


@dataclass(frozen=True)
class Times:
    """Seconds, as they were measured or are assumed."""

    proof: float
    """Of one task at the gate: its image, its oracle, its untouched environment."""
    trial: float
    """Of one trial, with as many at once as the machine has cores or more."""
    sampling: float
    """Of the first turns of one task, all of its attempts at once, where others wait for it."""
    update: float
    """Of one step of GRPO but for its trials and turns."""
    sft: float
    """Of training on one demonstration."""
    cores: int
    """How many trials go on at full speed: more at once share them."""


def simulate(size: Size, times: Times) -> dict[StageName, float]:
    """Seconds of each stage: slots take trials in turn, and a stage ends with its last trial."""
    each = times.trial / min(size.jobs, times.cores) * size.jobs
    proof = times.proof / min(size.jobs, times.cores) * size.jobs
    batches = size.batches()
    prompts = {"baseline": size.suite, "final": size.suite, "grpo": size.prompts * size.steps}
    found: dict[StageName, float] = {}
    for stage, counts in batches.items():
        length = proof if stage == "gate" else each
        found[stage] = sum(_makespan([length] * count, size.jobs) for count in counts)
        found[stage] += times.sampling * prompts.get(stage, 0)
    found["sft"] += times.sft * size.tasks
    found["grpo"] += times.update * size.steps
    return found


def _makespan(lengths: Sequence[float], slots: int) -> float:
    """When the last of `lengths` ends, each begun in the slot that is free first."""
    free = [0.0] * slots
    for length in lengths:
        heapq.heapreplace(free, free[0] + length)
    return max(free)


MEASURED = Size(tasks=8, suite=8, trials=8, steps=4, prompts=4, group=8, jobs=4)
PREDICTED = {
    "half the tasks": replace(MEASURED, tasks=4, suite=4),
    "the demo": Size(tasks=12, suite=8, trials=16, steps=12, prompts=4, group=8, jobs=4),
    "two at once": replace(MEASURED, tasks=6, trials=4, steps=6, jobs=2),
}


def check() -> None:
    """Prints predicted and measured times of the three runs, and how far apart they are."""
    engine, base_model = engine_url(), build(ROOT / ".local" / "cache" / "base-model")
    stages, clock = measure(engine, base_model, MEASURED)
    times = times_of(stages, clock, MEASURED)
    print(f"measured: {MEASURED}\n{times}\n")
    print(f"{'run':<16}{'predicted s':>12}{'measured s':>12}{'off by':>8}")
    for name, size in PREDICTED.items():
        foreseen = sum(simulate(size, times).values())
        took = sum(measure(engine, base_model, size)[0].values())
        print(f"{name:<16}{foreseen:>12.0f}{took:>12.0f}{foreseen / took - 1:>+8.0%}", flush=True)


def measure(engine: str, base_model: Path, size: Size) -> tuple[dict[StageName, float], Clock]:
    """Executes a run of that size; gives the seconds of its stages, and of its trials."""
    clock = Clock()
    with Sandbox(engine, size.jobs) as training, suite_sandbox(engine, size.jobs) as suite:
        made = run(
            *_sized(size),
            base_model,
            (clock.on(training), clock.on(suite)),
            example_of(size.tasks),
            suite_tasks=size.suite,
        )
    counted = size.batches()
    return {t.stage: t.seconds for t in made.report.stages if t.stage in counted}, clock


def _sized(size: Size) -> tuple[Challenge, Recipe]:
    challenge, recipe = demo(seed=0)
    evaluation = challenge.evaluation.model_copy(update={"trials": size.trials})
    gates = challenge.gates.model_copy(update={"min_tasks": 1})
    grpo = recipe.grpo.model_copy(
        update={
            "steps": size.steps,
            "prompts_per_step": size.prompts,
            "group_size": size.group,
        }
    )
    challenge = challenge.model_copy(update={"evaluation": evaluation, "gates": gates})
    return challenge, recipe.model_copy(update={"grpo": grpo})


def times_of(stages: dict[StageName, float], clock: Clock, size: Size) -> Times:
    """What one run tells of its parts."""
    cores = min(size.jobs, clock.cores())
    batches = size.batches()
    trials = batches["baseline"][-1] + batches["baseline"][0]
    alone = mean(b - a for a, b in clock.times[-batches["final"][0] :]) * cores / size.jobs
    sampling = (stages["baseline"] - trials * alone / cores) / size.suite
    rolled = size.steps * size.prompts * size.group * alone / cores
    turns = sampling * size.prompts * size.steps
    return Times(
        proof=stages["gate"] * cores / size.tasks,
        trial=alone,
        sampling=max(sampling, 0.0),
        update=max(stages["grpo"] - rolled - turns, 0.0) / size.steps,
        sft=max(stages["sft"] - size.tasks * alone / cores, 0.0) / size.tasks,
        cores=cores,
    )


@dataclass(frozen=True)
class Host:
    """A machine that trains, and where its containers run. What no run measured is assumed."""

    name: str
    tokens_per_second: float
    """Of the model's turns, over all attempts at once."""
    containers: int
    """At once; of images, a fourth as many are built at once."""
    exec_seconds: float
    """Of one command in a container, with the way to it."""
    trial_seconds: float
    """Of starting, verifying and removing one."""
    build_seconds: float
    update_seconds: float
    """Of one step of GRPO on 64 attempts."""
    dollars_per_hour: float


TASKS, GENERATIONS, TURNS, TOKENS = 200, 8, 8, 256
HOSTS = (
    Host("one GPU host, its own Docker", 2000, 16, 2.0, 12.0, 90.0, 60.0, 4.0),
    Host("the same, containers on another host", 2000, 64, 2.1, 12.3, 90.0, 60.0, 5.0),
    Host("a Job of four GPUs, containers on another host", 6000, 64, 2.1, 12.3, 90.0, 25.0, 14.0),
)


def plan() -> None:
    """Prints what a run of 200 tasks × 8 generations takes on each host, and what limits it."""
    print(
        f"{TASKS} tasks × {GENERATIONS} generations, 100 steps of 8 prompts, {TURNS} turns of "
        f"{TOKENS} tokens an attempt; a suite of 100 tasks × 4 trials\n"
    )
    for host in HOSTS:
        print(host)
        hours = {stage: seconds / 3600 for stage, seconds in foreseen(host).items()}
        told = ", ".join(f"{stage} {spent:.1f}" for stage, spent in hours.items())
        total = sum(hours.values())
        print(f"  {total:.1f} h, ${total * host.dollars_per_hour:.0f}: {told}")
        print(f"  a step of GRPO: {' '.join(step_limits(host))}\n")


def step_limits(host: Host, prompts: int = 8) -> Iterator[str]:
    """What one step of GRPO waits for, in seconds."""
    attempts = prompts * GENERATIONS
    yield f"turns {attempts * TURNS * TOKENS / host.tokens_per_second:.0f} s,"
    rounds = -(-attempts // host.containers)
    yield f"containers {rounds * (host.trial_seconds + TURNS * host.exec_seconds):.0f} s,"
    yield f"update {host.update_seconds:.0f} s"


def foreseen(host: Host) -> dict[StageName, float]:
    """Seconds of each stage. Turns are bound by tokens, containers by how many there may be."""
    size = Size(TASKS, 100, 4, 100, 8, GENERATIONS, host.containers)
    attempt = host.trial_seconds + TURNS * host.exec_seconds
    times = Times(
        proof=4 * host.build_seconds + 2 * attempt,
        trial=attempt,
        sampling=0.0,
        update=host.update_seconds,
        sft=host.update_seconds / 64,
        cores=host.containers,
    )
    found = simulate(size, times)
    turns = {stage: sum(counts) * TURNS * TOKENS for stage, counts in size.batches().items()}
    for stage in ("baseline", "grpo", "final"):
        found[stage] += turns[stage] / host.tokens_per_second
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check").set_defaults(does=check)
    commands.add_parser("plan").set_defaults(does=plan)
    parser.parse_args().does()


if __name__ == "__main__":
    main()
