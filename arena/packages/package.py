"""A task package that passed its checks, typed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.packages.schema import DEFAULT_WORKSPACE, Domain, FrontMatter


@dataclass(frozen=True)
class TaskPackage:
    """One task package on disk. Times in seconds, sizes in MiB."""

    root: Path
    front_matter: FrontMatter
    prompt: str

    @property
    def name(self) -> str:
        """The package's name: its folder's."""
        return self.root.name

    @property
    def domain(self) -> Domain:
        return self.front_matter.metadata.domain

    @property
    def licence(self) -> str | None:
        """The package's own licence; None where its collection's counts."""
        return self.front_matter.metadata.license

    @property
    def agent_timeout_sec(self) -> float:
        return self.front_matter.agent.timeout_sec

    @property
    def agent_user(self) -> str | None:
        """Who the agent is in the container; None: the image's user."""
        return self.front_matter.agent.user

    @property
    def verifier_timeout_sec(self) -> float:
        return self.front_matter.verifier.timeout_sec

    @property
    def shares_disk(self) -> bool:
        """Whether whatever the agent changed on its disk reaches the verifier."""
        return self.front_matter.verifier.environment_mode == "shared"

    @property
    def services(self) -> tuple[str, ...]:
        """Commands that run beside the agent, and again beside the verifier."""
        return self.front_matter.environment.services

    @property
    def build_timeout_sec(self) -> float:
        return self.front_matter.environment.build_timeout_sec

    @property
    def cpus(self) -> float:
        return self.front_matter.environment.cpus

    @property
    def memory_mb(self) -> int:
        return self.front_matter.environment.memory_mb

    @property
    def storage_mb(self) -> int:
        return self.front_matter.environment.storage_mb

    @property
    def allow_internet(self) -> bool:
        return self.front_matter.environment.has_network

    @property
    def artifacts(self) -> tuple[str, ...]:
        """Absolute paths in the container that hold the agent's work; empty: the workspace."""
        return self.front_matter.artifacts

    @property
    def workspace(self) -> str:
        """The folder in the container where the agent works."""
        return DEFAULT_WORKSPACE

    def oracle(self) -> str:
        """The text of `oracle/solve.sh`."""
        return (self.root / "oracle" / "solve.sh").read_text(encoding="utf-8")
