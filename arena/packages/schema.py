"""The typed front matter of `task.md`."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from arena.packages.findings import shown

DEFAULT_WORKSPACE = "/root"
MAX_LICENCE = 200
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,31})?")


class Domain(StrEnum):
    """The eight domains that a package can belong to, by slug."""

    SOFTWARE_ENGINEERING = "software-engineering"
    INDUSTRIAL_PHYSICAL_SYSTEMS = "industrial-physical-systems"
    NATURAL_SCIENCE = "natural-science"
    OFFICE_WHITE_COLLAR = "office-white-collar"
    FINANCE_ECONOMICS = "finance-economics"
    MATHEMATICS_OR_FORMAL_REASONING = "mathematics-or-formal-reasoning"
    CYBERSECURITY = "cybersecurity"
    MEDIA_CONTENT_PRODUCTION = "media-content-production"


DOMAIN_ALIASES: dict[str, Domain] = {
    "system-administration": Domain.SOFTWARE_ENGINEERING,
    "data-processing": Domain.SOFTWARE_ENGINEERING,
    "data-science": Domain.SOFTWARE_ENGINEERING,
    "debugging": Domain.SOFTWARE_ENGINEERING,
    "machine-learning": Domain.SOFTWARE_ENGINEERING,
    "file-operations": Domain.SOFTWARE_ENGINEERING,
    "programming": Domain.SOFTWARE_ENGINEERING,
    "model-training": Domain.SOFTWARE_ENGINEERING,
    "data-querying": Domain.SOFTWARE_ENGINEERING,
    "personal-assistant": Domain.OFFICE_WHITE_COLLAR,
    "video-processing": Domain.MEDIA_CONTENT_PRODUCTION,
    "security": Domain.CYBERSECURITY,
    "scientific-computing": Domain.NATURAL_SCIENCE,
    "mathematics": Domain.MATHEMATICS_OR_FORMAL_REASONING,
    "finance-and-economics": Domain.FINANCE_ECONOMICS,
    "office-and-knowledge-work": Domain.OFFICE_WHITE_COLLAR,
    "industrial-and-energy-operations": Domain.INDUSTRIAL_PHYSICAL_SYSTEMS,
    "media-and-multimodal-content": Domain.MEDIA_CONTENT_PRODUCTION,
}
"""Words for a domain that collections in the wild use."""


def domain_of(word: object) -> Domain | None:
    """The domain that a category's word means, aliases included; None where it means none."""
    slug = str(word).strip().lower().replace("&", "and").replace("_", "-").replace(" ", "-")
    if slug in set(Domain):
        return Domain(slug)
    return DOMAIN_ALIASES.get(slug)


def _domain(value: object) -> object:
    domain = domain_of(value)
    if domain is None:
        raise ValueError(f"is {shown(value)}, which is none of the domains {', '.join(Domain)}")
    return domain


def _version(value: object) -> object:
    """YAML reads 1.0 as a number; the major version is what counts."""
    text = str(value)
    if isinstance(value, bool) or text.split(".")[0] != "1":
        raise ValueError(f"is {shown(value)}; this arena reads major version 1")
    return text


def _user(value: object) -> object:
    """A user as Docker takes it: a name or a number, a group may follow."""
    text = str(value)
    if isinstance(value, bool) or not _USER.fullmatch(text):
        raise ValueError(f"is {shown(value)}, and a user's name or number is meant")
    return text


def _empty(value: object) -> object:
    """A key with nothing after it is a section that keeps its defaults."""
    return {} if value is None else value


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    @field_validator(
        "timeout_sec",
        "build_timeout_sec",
        "cpus",
        "memory_mb",
        "storage_mb",
        mode="before",
        check_fields=False,
    )
    @classmethod
    def _truth_is_no_number(cls, value: object) -> object:
        if isinstance(value, bool):
            raise ValueError(f"must be a number, not {str(value).lower()}")
        return value


class TaskMetadata(_Part):
    """`metadata`: who wrote the task, in which domain, under which licence."""

    author: str = Field(
        min_length=1,
        validation_alias=AliasChoices("author_hub", "author_name", "author"),
        description="The author's Hub user name; `author_name` is accepted instead.",
        examples=["ada"],
    )
    domain: Annotated[Domain, BeforeValidator(_domain)] = Field(
        validation_alias="category",
        description="One of the eight domains, or a known alias of one.",
        examples=["natural-science"],
    )
    difficulty: Literal["easy", "medium", "hard"] | None = Field(
        default=None, description="How hard the author finds it.", examples=["medium"]
    )
    tags: tuple[str, ...] = Field(
        default=(), description="Words to find the task by.", examples=["[csv, statistics]"]
    )
    license: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_LICENCE,
        description="SPDX id or expression; where missing, the collection's licence counts.",
        examples=["Apache-2.0"],
    )
    origin: Literal["original", "adapted", "generated"] | None = Field(
        default=None, description="Where the task comes from.", examples=["original"]
    )
    origin_url: str | None = Field(
        default=None,
        description="Where an adapted task was taken from; required with `origin: adapted`.",
        examples=["https://example.org/tasks/7"],
    )

    @model_validator(mode="after")
    def _adapted_names_its_source(self) -> Self:
        if self.origin == "adapted" and not self.origin_url:
            raise ValueError("origin is 'adapted', and origin_url does not say from where")
        return self


class AgentSection(_Part):
    """`agent`: limits of the agent's time."""

    timeout_sec: float = Field(
        default=900,
        gt=0,
        allow_inf_nan=False,
        description="Seconds that the agent has.",
        examples=["900"],
    )
    user: Annotated[str, BeforeValidator(_user)] | None = Field(
        default=None,
        description="Who the agent and the oracle are in the container, by name or number; "
        "without it, the image's `USER`.",
        examples=["solver"],
    )


class VerifierSection(_Part):
    """`verifier`: limits of the verifier's time, and what it sees of the agent's container."""

    timeout_sec: float = Field(
        default=600,
        gt=0,
        allow_inf_nan=False,
        description="Seconds that the verifier has; the template says 180.",
        examples=["180"],
    )
    environment_mode: Literal["separate", "shared"] = Field(
        default="separate",
        description="What reaches the verifier: `separate`, the agent's workspace or `artifacts`; "
        "`shared`, whatever the agent changed on the container's disk.",
        examples=["shared"],
    )


class EnvironmentSection(_Part):
    """`environment`, in newer spelling `sandbox`: what the container gets."""

    build_timeout_sec: float = Field(
        default=600,
        gt=0,
        allow_inf_nan=False,
        description="Seconds that building the image may take.",
        examples=["600"],
    )
    cpus: float = Field(
        default=1, gt=0, allow_inf_nan=False, description="Processor cores.", examples=["1"]
    )
    memory_mb: int = Field(default=2048, gt=0, description="Memory in MiB.", examples=["2048"])
    storage_mb: int = Field(default=10240, gt=0, description="Disk in MiB.", examples=["10240"])
    allow_internet: bool = Field(
        default=False, description="Whether the task needs the network.", examples=["false"]
    )
    network_mode: Literal["public", "no-network", "allowlist"] | None = Field(
        default=None,
        description="The newer spelling of `allow_internet`; `allowlist` names its hosts.",
        examples=["no-network"],
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="The hosts of `network_mode: allowlist`; required with it.",
        examples=["[pypi.org]"],
    )
    services: tuple[Annotated[str, Field(min_length=1, max_length=1_000)], ...] = Field(
        default=(),
        max_length=8,
        description="Commands that run in the background while the agent acts, and again while "
        "the verifier does; reached at localhost.",
        examples=['["redis-server --port 6379"]'],
    )

    @property
    def has_network(self) -> bool:
        """Whether the package declares that it needs the network."""
        return self.allow_internet or self.network_mode in {"public", "allowlist"}

    @model_validator(mode="after")
    def _one_network(self) -> Self:
        if self.allow_internet and self.network_mode == "no-network":
            raise ValueError("allow_internet is true, but network_mode is 'no-network'")
        if self.network_mode == "allowlist" and not self.allowed_hosts:
            raise ValueError("network_mode is 'allowlist', and allowed_hosts names no host")
        return self


class FrontMatter(_Part):
    """The whole front matter of a `task.md`."""

    version: Annotated[str, BeforeValidator(_version)] = Field(
        validation_alias=AliasChoices("version", "schema_version"),
        description="Version of the format, major 1; alias `schema_version`.",
        examples=['"1.0"'],
    )
    metadata: TaskMetadata
    agent: Annotated[AgentSection, BeforeValidator(_empty)]
    verifier: Annotated[VerifierSection, BeforeValidator(_empty)]
    environment: Annotated[EnvironmentSection, BeforeValidator(_empty)] = Field(
        validation_alias=AliasChoices("environment", "sandbox")
    )
    artifacts: tuple[str, ...] = Field(
        default=(),
        description="Absolute paths in the container that hold the agent's work; "
        "without it, the workspace `/root`.",
        examples=["[/srv/site]"],
    )

    @model_validator(mode="before")
    @classmethod
    def _one_spelling(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            raise ValueError("must be a mapping of keys to values")
        if not {"environment", "sandbox"} <= data.keys():
            return data
        old, new = _empty(data["environment"]), _empty(data["sandbox"])
        if not isinstance(old, dict):
            return data  # a fault of its own
        if not isinstance(new, dict):
            raise ValueError(f"sandbox is {shown(new)}, and a mapping of keys is meant")
        for key in sorted(old.keys() & new.keys()):
            if old[key] != new[key]:
                values = f"{shown(old[key])} but sandbox.{key} is {shown(new[key])}"
                raise ValueError(f"environment.{key} is {values}")
        return data | {"environment": {**new, **old}}

    @field_validator("artifacts")
    @classmethod
    def _are_absolute(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        for path in paths:
            if not path.startswith("/") or ".." in path.split("/") or path.strip("/") == "":
                raise ValueError(f"{shown(path)} is no absolute path below /")
        return paths


EXTENSIONS = (
    "agents", "artifacts", "benchflow", "reward", "scenes", "source", "steps", "task", "user",
)  # fmt: skip
"""Top-level keys that others' readers of the format know; they are kept, and not read here."""

TOP_LEVEL_KEYS = (
    "version", "schema_version", "metadata", "agent", "verifier", "environment", "sandbox",
    *EXTENSIONS,
)  # fmt: skip
