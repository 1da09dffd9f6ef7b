"""What a worker and the arena tell each other of a run."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from arena.records import Fault
from arena.report import StageName

MAX_LINE, MAX_LINES = 500, 200
"""Characters of a line, and lines of a message."""
WORKER_STOPPED = "worker_stopped"
"""The code of a failure that a worker tells where it gives a run up because it is being stopped."""


class Message(BaseModel):
    """What a worker sends. NaN and infinity are no JSON: what is shown could not carry them."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Ready(Message):
    """A worker asks for work, and says what it lacks, if anything.

    It names the lease itself, so that asking again after a lost answer gets the same run.
    """

    lease: str = Field(pattern=r"^[0-9a-f]{32}$")
    missing: str | None = Field(default=None, max_length=300)
    unfit: dict[str, str] = Field(
        default={}, max_length=1000, description="what it lacks for a challenge's recipe, by id"
    )


class Beat(Message):
    """A sign of life within a run: the stage, and counts alone."""

    lease: str
    stage: StageName
    done: int = Field(default=0, ge=0)
    total: int = Field(default=0, ge=0)
    ahead: int | None = Field(
        default=None, ge=0, description="the trials of later stages; null where not told yet"
    )
    reward: float | None = Field(
        default=None, description="of the newest step; never of a stage that touches the suite"
    )


class Lines(Message):
    """What a stage said in words. `first`: the number of its first line, counted over the run."""

    lease: str
    stage: StageName
    first: int = Field(ge=0)
    lines: list[Annotated[str, Field(max_length=MAX_LINE)]] = Field(max_length=MAX_LINES)


class StageEnd(Message):
    """A stage ended."""

    lease: str
    stage: StageName
    seconds: float = Field(ge=0)


class Failure(Message):
    """The run ended without a score."""

    lease: str
    fault: Fault
    code: str = Field(max_length=60, pattern=r"^[a-z_]+$")
    reason: str = Field(max_length=1000)


class Lease(BaseModel):
    """What a worker needs to execute a run. The challenge and recipe are by digest."""

    lease: str
    run: str
    challenge: str
    challenge_digest: str
    recipe_digest: str
    source: str
    collection: str
    heartbeat_seconds: float
