"""Demonstrations to imitate: the oracles, in the form in which a model answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypedDict

from arena.packages import TaskPackage
from arena.posttrain.commands import answer_with, command_in
from arena.posttrain.events import Progress
from arena.posttrain.model import Policy, chat
from arena.posttrain.trials import Crew, agent_of
from arena.sandbox.replay import SOLVED


class Demonstration(TypedDict):
    """A row of TRL's prompt-completion format."""

    prompt: list[dict[str, str]]
    completion: list[dict[str, str]]


def demonstrate(
    packages: Sequence[TaskPackage],
    policy: Policy,
    max_length: int,
    crew: Crew,
    progress: Progress,
) -> list[Demonstration]:
    """The demonstrations that the verifiers pass and that fit into `max_length` tokens whole.

    An oracle at the gate runs as a file with its folder beside it; here it has to work as a
    command that an agent gives, so it is tried once more.
    """
    answers = [answer_with(package.oracle()) for package in packages]
    trials = [
        partial(crew.sandbox.trial, package, agent_of(command_in(answer)))
        for package, answer in zip(packages, answers, strict=True)
    ]
    progress.expect(len(trials))
    results = crew.do(trials, progress)
    rows = [
        Demonstration(
            prompt=chat(package.prompt), completion=[{"role": "assistant", "content": answer}]
        )
        for package, answer, result in zip(packages, answers, results, strict=True)
        if result.reward is not None and result.reward >= SOLVED
    ]
    return [
        row for row in rows if policy.token_count(row["prompt"] + row["completion"]) <= max_length
    ]
