"""What is known of a repository beside its git objects, in a small file inside it."""

import hashlib
import re
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from arena.localhub.errors import bad_request
from arena.localhub.files import write_atomically

METADATA_FILE = "hub.json"

# The client's own rule for repository names, so that nothing is created that it cannot address.
_NAME = re.compile(
    r"(?!.*(?:--|\.\.))(?!.*\.git$)[A-Za-z0-9_](?:[\w.-]{0,94}[A-Za-z0-9_])?", re.ASCII
)

Gated = Literal["auto", "manual", False]


class RepoType(StrEnum):
    MODEL = "model"
    DATASET = "dataset"
    SPACE = "space"

    @property
    def plural(self) -> str:
        return f"{self}s"

    @property
    def url_prefix(self) -> str:
        """Models have no prefix in page and file addresses."""
        return "" if self is RepoType.MODEL else f"/{self.plural}"


class RepoMeta(BaseModel):
    model_config = ConfigDict(frozen=True)

    type: RepoType
    owner: str
    name: str
    creator: str
    created_at: datetime
    private: bool = False
    gated: Gated = False

    @property
    def repo_id(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def path(self) -> str:
        """The address of its page on this hub."""
        return f"{self.type.url_prefix}/{self.repo_id}"

    @property
    def opaque_id(self) -> str:
        text = f"{self.path} {self.created_at.isoformat()}"
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @classmethod
    def load(cls, git_dir: Path) -> Self:
        return cls.model_validate_json((git_dir / METADATA_FILE).read_bytes())

    def save(self, git_dir: Path) -> None:
        content = self.model_dump_json(indent=1).encode() + b"\n"
        write_atomically(git_dir / METADATA_FILE, content)


def check_repo_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise bad_request(f"Invalid repository name: {name[:100]!r}")
