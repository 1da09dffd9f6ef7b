"""Demonstrations to imitate, by oracle or teacher, as turns that the model could have sampled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.packages import TaskPackage
from arena.posttrain.conversation import Dialect
from arena.posttrain.events import WordyProgress
from arena.posttrain.formats import command_of
from arena.posttrain.rollouts import Limits, NextTurn, Rollout, roll_out
from arena.posttrain.seeds import trial_seed
from arena.posttrain.teacher import Teacher, TeacherTurns
from arena.posttrain.trials import Crew
from arena.sandbox.replay import SOLVED

Demonstrator = Callable[[TaskPackage], Sequence[NextTurn]]
"""Gives the attempts at a task; of those that its verifier passes the first is used."""


def demonstrate(
    packages: Sequence[TaskPackage],
    demonstrator: Demonstrator,
    dialect: Dialect,
    limits: Limits,
    max_length: int,
    crew: Crew,
    progress: WordyProgress,
) -> list[Rollout]:
    """The demonstrations that the verifiers pass and that fit into `max_length` tokens whole.

    An oracle at the gate runs as a file with its folder beside it; here it has to work as a
    command that an agent gives, so it is tried once more.
    """
    tried = [(package, turn) for package in packages for turn in demonstrator(package)]
    tasks, turns = [package for package, _ in tried], [turn for _, turn in tried]
    progress.expect(len(tried))
    made = roll_out(tasks, turns, dialect, limits, crew, progress)
    kept: dict[str, Rollout] = {}
    lacking: dict[str, str] = {}
    for package, rollout in zip(tasks, made, strict=True):
        if why := _why_not(rollout, max_length):
            lacking[package.name] = why
        else:
            kept.setdefault(package.name, rollout)
    for name, why in lacking.items():
        if name not in kept:
            progress.say(f"{name}: no demonstration: {why}")
    progress.say(f"{len(kept)} of {len(packages)} tasks have a demonstration")
    return list(kept.values())


def _why_not(rollout: Rollout, max_length: int) -> str | None:
    """Why a demonstration is not used; None where it is."""
    result, length = rollout.result, len(rollout.prompt_ids) + len(rollout.completion_ids)
    if result.reward is None or result.reward < SOLVED:
        return result.detail or f"as one command the oracle scores {result.reward}"
    return f"{length} tokens, and {max_length} are taken" if length > max_length else None


def by_oracle(dialect: Dialect) -> Demonstrator:
    """The oracle as one command; in a challenge of several turns, then the turn that ends it."""

    def attempts(package: TaskPackage) -> list[NextTurn]:
        command = command_of(package.oracle())
        return [lambda made: dialect.turn(None if made.turns else command)]

    return attempts


def by_teacher(teacher: Teacher, attempts: int, dialect: Dialect, seed: int) -> Demonstrator:
    """The teacher's own attempts."""

    def made(package: TaskPackage) -> list[NextTurn]:
        seeds = [trial_seed(seed, f"teacher {package.name}", k) for k in range(attempts)]
        return [TeacherTurns(teacher, dialect, seed) for seed in seeds]

    return made
