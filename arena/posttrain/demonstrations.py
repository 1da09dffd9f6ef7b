"""Demonstrations to imitate: the oracles, as turns that the model could have sampled."""

from __future__ import annotations

from collections.abc import Sequence

from arena.packages import TaskPackage
from arena.posttrain.conversation import Conversation, Dialect
from arena.posttrain.events import WordyProgress
from arena.posttrain.formats import command_of
from arena.posttrain.rollouts import Limits, NextTurn, Rollout, roll_out
from arena.posttrain.trials import Crew
from arena.sandbox.replay import SOLVED


def demonstrate(
    packages: Sequence[TaskPackage],
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
    progress.expect(len(packages))
    turns = [_oracle_turns(package, dialect) for package in packages]
    made = roll_out(packages, turns, dialect, limits, crew, progress)
    kept: list[Rollout] = []
    for package, rollout in zip(packages, made, strict=True):
        if why := _why_not(rollout, max_length):
            progress.say(f"{package.name}: no demonstration: {why}")
        else:
            kept.append(rollout)
    progress.say(f"{len(kept)} of {len(made)} demonstrations are used")
    return kept


def _why_not(rollout: Rollout, max_length: int) -> str | None:
    """Why a demonstration is not used; None where it is."""
    result, length = rollout.result, len(rollout.prompt_ids) + len(rollout.completion_ids)
    if result.reward is None or result.reward < SOLVED:
        return result.detail or f"as one command the oracle scores {result.reward}"
    return f"{length} tokens, and {max_length} are taken" if length > max_length else None


def _oracle_turns(package: TaskPackage, dialect: Dialect) -> NextTurn:
    """The oracle as one command; in a challenge of several turns, then the turn that ends it."""

    def next_turn(conversation: Conversation) -> list[int]:
        return dialect.turn(None if conversation.turns else command_of(package.oracle()))

    return next_turn
