"""The typed front matter of `task.md`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

MAX_LICENCE = 200


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
    """The domain that a slug, or a known word for one, names."""
    slug = str(word).strip().lower().replace("_", "-").replace(" ", "-")
    return DOMAIN_ALIASES.get(slug) or (Domain(slug) if slug in set(Domain) else None)


def _domain(value: object) -> object:
    domain = domain_of(value)
    if domain is None:
        raise ValueError(f"is {value!r}, which is none of the domains {', '.join(Domain)}")
    return domain


def _version(value: object) -> object:
    """YAML reads 1.0 as a number; the major version is what counts."""
    text = str(value)
    if isinstance(value, bool) or text.split(".")[0] != "1":
        raise ValueError(f"is {value!r}; this arena reads major version 1")
    return text


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class TaskMetadata(_Part):
    """`metadata`: who wrote the task, in which domain, under which licence."""

    author: str = Field(
        min_length=1, validation_alias=AliasChoices("author_hub", "author_name", "author")
    )
    domain: Annotated[Domain, BeforeValidator(_domain)] = Field(validation_alias="category")
    difficulty: Literal["easy", "medium", "hard"] | None = None
    tags: tuple[str, ...] = ()
    license: str | None = Field(default=None, min_length=1, max_length=MAX_LICENCE)
    origin: Literal["original", "adapted", "generated"] | None = None
    origin_url: str | None = None


class AgentSection(_Part):
    """`agent`: limits of the agent's time."""

    timeout_sec: float = Field(default=900, gt=0, allow_inf_nan=False)


class VerifierSection(_Part):
    """`verifier`: limits of the verifier's time."""

    timeout_sec: float = Field(default=600, gt=0, allow_inf_nan=False)


class EnvironmentSection(_Part):
    """`environment`, in newer spelling `sandbox`: what the container gets."""

    build_timeout_sec: float = Field(default=600, gt=0, allow_inf_nan=False)
    cpus: float = Field(default=1, gt=0, allow_inf_nan=False)
    memory_mb: int = Field(default=2048, gt=0)
    storage_mb: int = Field(default=10240, gt=0)
    allow_internet: bool = False
    network_mode: Literal["public", "no-network", "allowlist"] | None = None
    allowed_hosts: tuple[str, ...] = ()

    @property
    def has_network(self) -> bool:
        """Whether the package declares that it needs the network."""
        return self.allow_internet or self.network_mode in {"public", "allowlist"}


class FrontMatter(_Part):
    """The whole front matter of a `task.md`."""

    version: Annotated[str, BeforeValidator(_version)] = Field(
        validation_alias=AliasChoices("version", "schema_version")
    )
    metadata: TaskMetadata
    agent: AgentSection
    verifier: VerifierSection
    environment: EnvironmentSection = Field(validation_alias=AliasChoices("environment", "sandbox"))
    artifacts: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _one_spelling(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            raise ValueError("must be a mapping of keys to values")
        old, new = data.get("environment"), data.get("sandbox")
        if isinstance(old, dict) and isinstance(new, dict):
            for key in old.keys() & new.keys():
                if old[key] != new[key]:
                    raise ValueError(
                        f"environment.{key} is {old[key]!r} but sandbox.{key} is {new[key]!r}"
                    )
            return data | {"environment": {**new, **old}}
        return data

    @model_validator(mode="after")
    def _artifacts_are_absolute(self) -> Self:
        for path in self.artifacts:
            if not path.startswith("/") or ".." in path.split("/") or path.strip("/") == "":
                raise ValueError(f"artifacts holds {path!r}: an absolute path below / is meant")
        return self
