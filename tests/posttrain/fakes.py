"""A sandbox without containers: it answers what a test gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from arena.packages import TaskPackage
from arena.sandbox import Agent, BuildError, Sandbox, TrialResult, oracle

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

# Agents are closures: the code of one tells which it is.
_ORACLE = oracle().__code__  # type: ignore[attr-defined]


@dataclass
class FakeSandbox:
    """`oracles` and `others` by package name; 1.0 and 0.0 where a package is not named."""

    oracles: dict[str, TrialResult] = field(default_factory=dict)
    others: dict[str, TrialResult] = field(default_factory=dict)
    not_building: tuple[str, ...] = ()
    trials: int = 0

    def unbuildable(self, _package: TaskPackage) -> str | None:
        return None

    def build(self, package: TaskPackage) -> str:
        if package.name in self.not_building:
            raise BuildError(package.name, "RUN false: exit code: 1", "")
        return "image"

    def trial(self, package: TaskPackage, agent: Agent, **_options: int) -> TrialResult:
        self.trials += 1
        if cast(Any, agent).__code__ is _ORACLE:
            return self.oracles.get(package.name, TrialResult(1.0, None, ""))
        return self.others.get(package.name, TrialResult(0.0, None, ""))

    def map(self, function: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(function, items))

    def sandbox(self) -> Sandbox:
        return cast(Sandbox, self)
