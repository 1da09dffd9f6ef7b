"""Attempts of a model at tasks, in containers: one loop for both arms, demonstrations and GRPO."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from arena.challenges import Generation
from arena.packages import TaskPackage
from arena.posttrain.conversation import Conversation, Dialect
from arena.posttrain.events import Progress
from arena.posttrain.trials import Crew
from arena.sandbox import Agent, Session, Step, TrialResult

NextTurn = Callable[[Conversation], list[int]]
"""The ids of the next turn, its end included."""


class Sampler(Protocol):
    """What samples turns: in process, or from a server."""

    def refresh(self) -> None:
        """Samples from the policy as it is now, from here on."""

    def sample(
        self, context: Sequence[int], seeds: Sequence[int], temperature: float, max_tokens: int
    ) -> list[list[int]]:
        """One turn after `context` per seed, each ended by the model's own end or `max_tokens`."""


@dataclass(frozen=True)
class Limits:
    """What one attempt may use: turns, tokens of a turn and of the whole, characters heard."""

    turns: int
    turn_tokens: int
    tokens: int
    observation_chars: int

    @classmethod
    def of(cls, generation: Generation, max_turns: int) -> Limits:
        return cls(
            turns=max_turns,
            turn_tokens=generation.max_new_tokens,
            tokens=generation.max_tokens,
            observation_chars=generation.observation_chars,
        )


class Attempt(NamedTuple):
    """A task to try; `seed` decides what is sampled."""

    package: TaskPackage
    seed: int


@dataclass(frozen=True)
class Rollout:
    """One attempt that was made: its exact ids, and what came of it."""

    prompt_ids: list[int]
    completion_ids: list[int]
    mask: list[int]
    result: TrialResult


class Voice(NamedTuple):
    """A model that is asked, and how."""

    sampler: Sampler
    dialect: Dialect
    limits: Limits
    temperature: float

    def turns(self, attempts: Sequence[Attempt]) -> list[NextTurn]:
        """The next turns of each attempt, of the policy as it is now.

        The first are sampled here, all of one task at once.
        """
        self.sampler.refresh()
        first: dict[Attempt, list[int]] = {}
        for package in {id(a.package): a.package for a in attempts}.values():
            seeds = [a.seed for a in attempts if a.package is package]
            context = self.dialect.opening(package.prompt)
            for seed, ids in zip(seeds, self._sample(context, seeds), strict=True):
                first[Attempt(package, seed)] = ids
        return [partial(self._next, attempt.seed, first[attempt]) for attempt in attempts]

    def _next(self, seed: int, first: list[int], conversation: Conversation) -> list[int]:
        if not conversation.turns:
            return first
        return self._sample(conversation.context, [seed + conversation.turns])[0]

    def _sample(self, context: Sequence[int], seeds: Sequence[int]) -> list[list[int]]:
        return self.sampler.sample(context, seeds, self.temperature, self.limits.turn_tokens)


def roll_out(
    packages: Sequence[TaskPackage],
    turns: Sequence[NextTurn],
    dialect: Dialect,
    limits: Limits,
    crew: Crew,
    progress: Progress,
    verifications: int = 1,
) -> list[Rollout]:
    """Makes an attempt at each package with the turns beside it, many at once, in their order."""
    makers = [
        _Maker(package, next_turn, dialect, limits)
        for package, next_turn in zip(packages, turns, strict=True)
    ]
    return crew.do([partial(m.make, crew, verifications) for m in makers], progress)


class _Maker:
    """Makes one attempt. In a fresh container, after the engine failed, it begins anew."""

    def __init__(
        self, package: TaskPackage, next_turn: NextTurn, dialect: Dialect, limits: Limits
    ) -> None:
        self._package, self._next_turn = package, next_turn
        self._dialect, self._limits = dialect, limits
        self._conversation = Conversation(dialect, package.prompt)

    def make(self, crew: Crew, verifications: int) -> Rollout:
        agent: Agent = self._act
        result = crew.sandbox.trial(self._package, agent, verifications=verifications)
        made = self._conversation
        return Rollout(made.prompt_ids, made.completion_ids, made.mask, result)

    def _act(self, session: Session) -> None:
        self._conversation = made = Conversation(self._dialect, self._package.prompt)
        while command := made.say(self._next_turn(made)):
            step = session.run(command)
            if session.over or not made.turn_is_whole or made.turns == self._limits.turns:
                return
            made.hear(told(step, self._limits.observation_chars))
            if len(made.context) + self._limits.turn_tokens > self._limits.tokens:
                return


def told(step: Step, most: int) -> str:
    """What a model hears of a command: its exit code and output, the middle of a long one cut."""
    output = step.output
    if len(output) > most:
        half = most // 2
        cut = len(output) - 2 * half
        output = f"{output[:half]}\n[{cut} characters left out]\n{output[-half:]}"
    return f"exit code {step.exit_code}\n{output}".rstrip()
