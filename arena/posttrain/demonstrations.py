"""Demonstrations to imitate: the oracles, as turns that the model could have sampled."""

from __future__ import annotations

from collections.abc import Sequence

from arena.packages import TaskPackage
from arena.posttrain.conversation import Conversation, Dialect
from arena.posttrain.events import Progress
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
    progress: Progress,
) -> list[Rollout]:
    """The demonstrations that the verifiers pass and that fit into `max_length` tokens whole.

    An oracle at the gate runs as a file with its folder beside it; here it has to work as a
    command that an agent gives, so it is tried once more.
    """
    progress.expect(len(packages))
    turns = [_oracle_turns(package, dialect) for package in packages]
    made = roll_out(packages, turns, dialect, limits, crew, progress)
    return [
        rollout
        for rollout in made
        if rollout.result.reward is not None
        and rollout.result.reward >= SOLVED
        and len(rollout.prompt_ids) + len(rollout.completion_ids) <= max_length
    ]


def _oracle_turns(package: TaskPackage, dialect: Dialect) -> NextTurn:
    """The oracle as one command; in a challenge of several turns, then the turn that ends it."""

    def next_turn(conversation: Conversation) -> list[int]:
        return dialect.turn(None if conversation.turns else command_of(package.oracle()))

    return next_turn
