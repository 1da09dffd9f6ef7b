"""What a trial is given and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

from arena.packages import TaskPackage

Fault = Literal["agent", "verifier", "platform"]

DEFAULT_PIDS = 256
_SMALLEST_MEMORY_MB = 6  # Docker refuses less

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Caps:
    """A challenge's upper bounds. None: what the package asks for counts."""

    memory_mb: int | None = None
    cpus: float | None = None
    pids: int | None = None
    storage_mb: int | None = None
    artifacts_mb: int = 64
    agent_timeout_sec: float | None = None
    verifier_timeout_sec: float | None = None
    build_timeout_sec: float | None = None
    network: bool = True
    """False: no container has network, whatever its package declares."""


@dataclass(frozen=True)
class Limits:
    """What one package's containers get: what it asks for, within the caps."""

    memory_mb: int
    cpus: float
    pids: int
    storage_mb: int
    artifacts_mb: int
    agent_sec: float
    verifier_sec: float
    build_sec: float
    network: bool

    @classmethod
    def of(cls, package: TaskPackage, caps: Caps, engine_cpus: float) -> Limits:
        # The engine refuses a container that asks for more processors than it has.
        cpus = _within(package.cpus, caps.cpus)
        return cls(
            memory_mb=max(_SMALLEST_MEMORY_MB, _within(package.memory_mb, caps.memory_mb)),
            cpus=min(cpus, engine_cpus),
            pids=_within(DEFAULT_PIDS, caps.pids),
            storage_mb=_within(package.storage_mb, caps.storage_mb),
            artifacts_mb=caps.artifacts_mb,
            agent_sec=_within(package.agent_timeout_sec, caps.agent_timeout_sec),
            verifier_sec=_within(package.verifier_timeout_sec, caps.verifier_timeout_sec),
            build_sec=_within(package.build_timeout_sec, caps.build_timeout_sec),
            network=package.allow_internet and caps.network,
        )


@dataclass(frozen=True)
class Step:
    """One command of an agent. `exit_code` is None where a limit ended it."""

    command: str
    exit_code: int | None
    output: str


@dataclass(frozen=True)
class TrialResult:
    """One attempt at one task.

    `fault` None: the verifier's reward counts. "agent": what the agent did left nothing to verify,
    and the reward is 0. "verifier": no valid reward. "platform": missing data, nobody's doing.
    """

    reward: float | None
    fault: Fault | None
    detail: str
    steps: tuple[Step, ...] = ()
    verifier_output: str = ""
    seconds: float = 0.0
    image: str = ""


def _within(asked: Number, cap: Number | None) -> Number:
    return asked if cap is None else min(asked, cap)
