"""Challenges and recipes as files: typed, and refused with the path of the field that is wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from math import inf
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from arena.packages import ResourceCaps
from arena.packages.yamltext import YamlError, load_yaml

Fraction = float
Slug = r"^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$"
RecipeName = r"^[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$"
RepoId = r"^[\w.-]+/[\w.-]+$"
ChallengeStateName = Literal["open", "paused", "closed"]
FormatName = Literal["fenced", "tool-calls"]


class ChallengeFileError(Exception):
    """A challenge, recipe or arena file that is wrong; every problem with its path."""

    def __init__(self, path: Path, problems: list[str]) -> None:
        super().__init__(f"{path}: " + "; ".join(problems))
        self.path = path
        self.problems = problems


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class InitialState(_Part):
    state: ChallengeStateName
    reason: str = Field(min_length=1)


class Dates(_Part):
    """When a challenge opens and closes, each with its time zone."""

    opens: AwareDatetime
    closes: AwareDatetime

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.closes <= self.opens:
            raise ValueError("closes must be after opens")
        return self


class PinnedRepo(_Part):
    """A repository at a revision; `main` only where the laptop makes the repository itself."""

    repo: str = Field(pattern=RepoId)
    revision: str = Field(min_length=1)


class Suite(PinnedRepo):
    """The held-out suite: a private dataset."""

    sealed: bool = True


class RecipeRef(_Part):
    file: str = Field(pattern=r"^[\w./-]+\.yaml$")


class Evaluation(_Part):
    """How both arms are measured."""

    trials: int = Field(ge=1, le=256)
    pass_threshold: Fraction = Field(default=1.0, gt=0, le=1)
    temperature: float = Field(default=1.0, ge=0)
    seed: int = Field(default=0, ge=0)
    max_turns: int = Field(default=1, ge=1)
    timeout_sec: float = Field(gt=0)
    coverage_floor: Fraction = Field(default=0.9, gt=0, le=1)
    max_missing_gap: Fraction = Field(default=0.05, ge=0, le=1)


class Gates(_Part):
    min_tasks: int = Field(ge=1)


class SandboxCaps(_Part):
    """Upper bounds on what a package may ask for."""

    memory_mb: int = Field(gt=0)
    cpus: float = Field(gt=0)
    agent_timeout_sec: float = Field(gt=0)
    verifier_timeout_sec: float = Field(gt=0)
    build_timeout_sec: float = Field(default=600, gt=0)
    network: bool = False


class SandboxSection(_Part):
    suite: SandboxCaps
    training: SandboxCaps

    @model_validator(mode="after")
    def _suite_has_no_network(self) -> Self:
        if self.suite.network:
            raise ValueError("suite.network must be false: suite trials never have network")
        return self


class Ranking(_Part):
    min_runs: int = Field(default=1, ge=1)
    runs_per_collection: int = Field(ge=1)
    grounds: tuple[str, ...] = ()


class Budget(_Part):
    """The challenge's cap on compute, in hours of one worker."""

    worker_hours: float = Field(gt=0)


class Compute(_Part):
    backend: Literal["worker", "hf-jobs"]
    flavor: str | None = None
    timeout: float = Field(gt=0, description="seconds for one run")

    @field_validator("backend")
    @classmethod
    def _is_run_here(cls, backend: str) -> str:
        if backend == "hf-jobs":
            raise ValueError("hf-jobs is not run by this version yet; worker is")
        return backend


class Challenge(_Part):
    """`challenges/<id>/challenge.yaml`."""

    id: str = Field(pattern=Slug)
    title: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    initial_state: InitialState
    dates: Dates | None
    base_model: PinnedRepo
    recipe: RecipeRef
    suite: Suite
    evaluation: Evaluation
    gates: Gates
    sandbox: SandboxSection
    ranking: Ranking
    budget: Budget
    compute: Compute
    editors: tuple[str, ...] = ()
    digest: str = Field(default="", exclude=True, description="sha256 of the file's bytes")


class SftSettings(_Part):
    epochs: int = Field(ge=0)
    learning_rate: float = Field(gt=0)
    batch_size: int = Field(ge=1)
    max_length: int = Field(default=256, ge=16)


class GrpoSettings(_Part):
    steps: int = Field(ge=0)
    learning_rate: float = Field(gt=0)
    prompts_per_step: int = Field(ge=1)
    group_size: int = Field(ge=2)
    temperature: float = Field(default=1.0, gt=0)
    epsilon_high: float = Field(default=0.28, gt=0)
    beta: float = Field(default=0.0, ge=0)
    batch_size: int | None = Field(
        default=None, ge=1, description="attempts in one pass through the model; None: all"
    )

    @model_validator(mode="after")
    def _batches_are_whole(self) -> Self:
        if self.batch_size and self.group_size % self.batch_size:
            raise ValueError("batch_size must divide group_size")
        return self


class LoraSettings(_Part):
    """A low-rank adapter, trained in place of the model's own weights."""

    rank: int = Field(ge=1)
    alpha: int = Field(ge=1)
    target_modules: tuple[str, ...] = Field(min_length=1)


class ServerSettings(_Part):
    """A vLLM server beside the trainer, from which turns are sampled."""

    gpu_memory_fraction: float = Field(gt=0, lt=1, description="of the device, for the server")
    start_seconds: float = Field(default=900, gt=0, description="until it answers")


class TeacherSettings(_Part):
    """A model that demonstrates the tasks; where it is asked is the worker's to know."""

    model: str = Field(min_length=1, description="as the endpoint names it")
    attempts: int = Field(default=1, ge=1, le=16, description="at a task; the first verified one")
    temperature: float = Field(default=1.0, ge=0)
    max_new_tokens: int = Field(default=1024, ge=1, description="of one turn")


class Generation(_Part):
    """How the model is asked for commands; the same in training and evaluation."""

    format: FormatName = "fenced"
    max_new_tokens: int = Field(ge=1, description="of one turn")
    max_tokens: int = Field(default=4096, ge=16, description="of one attempt, prompt and all")
    observation_chars: int = Field(
        default=2000, ge=100, description="of a command's output; the middle of more is left out"
    )


class Recipe(_Part):
    """`challenges/recipes/<name>.yaml`: the one training procedure of a challenge."""

    name: str = Field(pattern=RecipeName)
    demonstrations: Literal["oracle"] | TeacherSettings
    lora: LoraSettings | None = None
    server: ServerSettings | None = None
    sft: SftSettings
    grpo: GrpoSettings
    generation: Generation
    device: Literal["cpu", "cuda"]
    dtype: Literal["float32", "bfloat16"] = "float32"
    gpu_memory_gb: float | None = Field(
        default=None, gt=0, description="what the device has to have at least"
    )
    threads: int = Field(default=2, ge=1)
    digest: str = Field(default="", exclude=True, description="sha256 of the file's bytes")

    @model_validator(mode="after")
    def _server_has_an_adapter(self) -> Self:
        if self.server and not self.lora:
            raise ValueError("server needs lora: between steps it is given the adapter alone")
        return self


class CollectionSize(_Part):
    min: int = Field(ge=1)
    max: int = Field(le=200)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.max < self.min:
            raise ValueError("max must not be below min")
        return self


class Limits(_Part):
    """Shared limits; windows are rolling hours."""

    validations_per_author_per_hour: int = Field(ge=1)
    validations_per_hour: int = Field(ge=1)
    active_submissions: int = Field(ge=1)


class ArenaFile(_Part):
    """`challenges/arena.yaml`: who runs this arena."""

    organization: str = Field(min_length=1)
    editors: tuple[str, ...] = ()
    workers: tuple[str, ...]
    collection_size: CollectionSize
    limits: Limits


class Challenges(BaseModel):
    """Everything under `challenges/`."""

    model_config = ConfigDict(frozen=True)

    arena: ArenaFile
    challenges: dict[str, Challenge]
    recipes: dict[str, Recipe] = Field(description="by challenge id")

    def training_caps(self, challenge: str | None = None) -> ResourceCaps:
        """What one challenge gives to training tasks at most, or the most that any gives.

        Raises:
            KeyError: there is no such challenge.
        """
        chosen = [self.challenges[challenge]] if challenge else list(self.challenges.values())
        caps = [c.sandbox.training.model_dump() for c in chosen]
        return ResourceCaps(
            **{name: max((c[name] for c in caps), default=inf) for name in ResourceCaps._fields}
        )

    def training_sandbox(self, names: Iterable[str]) -> SandboxCaps | None:
        """The most that any of these challenges gives to training tasks; None where there are none.

        Field by field, as rule TP025 compares.
        """
        given = [self.challenges[name].sandbox.training.model_dump() for name in names]
        if not given:
            return None
        most = {name: max(caps[name] for caps in given) for name in SandboxCaps.model_fields}
        return SandboxCaps.model_validate(most)


Model = TypeVar("Model", bound=BaseModel)


def load_challenges(folder: Path) -> Challenges:
    """Reads `arena.yaml`, every `<id>/challenge.yaml`, and the recipe each names.

    Raises:
        ChallengeFileError: a file is missing or wrong; the message has the path of each field.
    """
    challenges: dict[str, Challenge] = {}
    recipes: dict[str, Recipe] = {}
    for path in sorted(folder.glob("*/challenge.yaml")):
        challenge = load_file(path, Challenge)
        if challenge.id != path.parent.name:
            raise ChallengeFileError(
                path, [f"id: is {challenge.id!r}, but the folder's name counts"]
            )
        challenges[challenge.id] = challenge
        recipes[challenge.id] = load_file(folder / challenge.recipe.file, Recipe)
    arena = load_file(folder / "arena.yaml", ArenaFile)
    return Challenges(arena=arena, challenges=challenges, recipes=recipes)


def load_file(path: Path, model: type[Model]) -> Model:
    """One YAML file as `model`, with the sha256 of its bytes where the model has a `digest`."""
    try:
        content = path.read_bytes()
        data = load_yaml(content.decode("utf-8")).data
        if not isinstance(data, dict):
            raise ChallengeFileError(path, ["the file is not a mapping of keys to values"])
        if "digest" in data:
            raise ChallengeFileError(path, ["digest: is computed from the file, not written in it"])
        if "digest" in model.model_fields:
            data["digest"] = hashlib.sha256(content).hexdigest()
        return model.model_validate(data)
    except OSError as exc:
        raise ChallengeFileError(path, [exc.strerror or "cannot be read"]) from exc
    except UnicodeDecodeError as exc:
        raise ChallengeFileError(path, ["is not UTF-8 text"]) from exc
    except YamlError as exc:
        raise ChallengeFileError(path, [f"line {exc.line}: {exc.message}"]) from exc
    except ValidationError as exc:
        problems = [
            f"{'.'.join(str(part) for part in error['loc']) or 'file'}: "
            + error["msg"].removeprefix("Value error, ")
            for error in exc.errors()
        ]
        raise ChallengeFileError(path, problems) from exc
