"""Trials of task packages in containers: an agent acts, a fresh container verifies."""

from arena.sandbox.agents import Agent, oracle, scripted, untouched
from arena.sandbox.errors import (
    BuildError,
    EngineError,
    EngineUnavailable,
    NoDockerCommand,
    SessionOver,
)
from arena.sandbox.replay import Replay, replay
from arena.sandbox.results import Caps, Fault, Step, TrialResult
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.session import Session

__all__ = [
    "Agent",
    "BuildError",
    "Caps",
    "EngineError",
    "EngineUnavailable",
    "Fault",
    "NoDockerCommand",
    "Replay",
    "Sandbox",
    "Session",
    "SessionOver",
    "Step",
    "TrialResult",
    "oracle",
    "replay",
    "scripted",
    "untouched",
]
