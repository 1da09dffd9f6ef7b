"""The report of a run: what a worker measured. Its own totals are never believed.

Everything the arena publishes of a report is computed anew from `trials`.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from arena.packages.schema import Domain

StageName = Literal["setup", "snapshot", "gate", "baseline", "sft", "grpo", "final", "report"]
STAGES: tuple[StageName, ...] = (
    "setup",
    "snapshot",
    "gate",
    "baseline",
    "sft",
    "grpo",
    "final",
    "report",
)
SUITE_STAGES: frozenset[StageName] = frozenset({"baseline", "final"})
"""The stages that touch the sealed suite: they tell counts alone."""
WordyStage = Literal["gate", "sft", "grpo"]
"""The stages that touch the author's tasks alone: what they say in words is shown."""
WORDY_STAGES: frozenset[StageName] = frozenset({"gate", "sft", "grpo"})
Arm = Literal["before", "after"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class StageTime(_Part):
    stage: StageName
    seconds: float = Field(ge=0)


class Trial(_Part):
    """One attempt at one suite task. `reward` is None where the trial is missing data."""

    task: str = Field(
        pattern=r"^[0-9a-f]{16}$", description="HMAC of the name under the suite's key"
    )
    domain: Domain
    arm: Arm
    trial: int = Field(ge=0)
    reward: float | None = Field(default=None, ge=0, le=1)
    errored: bool = Field(default=False, description="scored 0 for what the agent brought about")


class GateResult(_Part):
    """One training task at the gate; `reason` says why it was left out."""

    package: str
    ok: bool
    oracle: float | None
    untouched: float | None
    reason: str = ""


class CurvePoint(_Part):
    """One step of GRPO: the mean reward of its attempts, and what the step did."""

    step: int
    reward: float
    loss: float | None = Field(default=None, description="None: not finite, or not reported")
    groups_with_spread: int | None = Field(default=None, ge=0)
    weights_changed: bool | None = None


class TensorChange(_Part):
    """A trained tensor: its norm before training, and the norm of its change."""

    name: str
    norm: float = Field(ge=0)
    change: float = Field(ge=0)


class Training(_Part):
    """The training's own figures."""

    demonstrations: int = Field(ge=0)
    sft_steps: int = Field(ge=0)
    sft_updates: int | None = Field(default=None, ge=0, description="steps that count")
    grpo_steps: int = Field(ge=0)
    grpo_updates: int | None = Field(default=None, ge=0, description="steps that count")
    grpo_groups_with_spread: int = Field(ge=0)
    reward_curve: tuple[CurvePoint, ...]
    tensors: tuple[TensorChange, ...] = ()
    weights_before: str
    weights_after: str

    @property
    def weights_changed(self) -> bool:
        return self.weights_before != self.weights_after


class Report(_Part):
    """`report.json`."""

    run: str
    seed: int
    stages: tuple[StageTime, ...]
    trials: tuple[Trial, ...]
    gates: tuple[GateResult, ...]
    training: Training
    provenance: dict[str, str] = Field(description="digests: challenge, recipe, suite, model, …")
    software: dict[str, str]
    resumed: tuple[StageName, ...] = Field(
        default=(),
        description="stages that an earlier attempt of this run made whole under the same pins",
    )

    @model_validator(mode="after")
    def _each_trial_once(self) -> Self:
        keys = {(trial.task, trial.arm, trial.trial) for trial in self.trials}
        if len(keys) != len(self.trials):
            raise ValueError("trials: one trial stands twice")
        return self
