"""Whether a package is a suite task, asked without holding the suite.

Exact content only so far: the index holds one keyed digest a task. `COMPARED` says so in every
validation.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.packages.files import list_files

COMPARED = "exact content"


class IndexFile(BaseModel):
    """`index.json` of a sealed suite."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    check: str
    packages: list[str]


class SealedIndexError(Exception):
    """An index that is unreadable, or sealed under another key."""


@dataclass(frozen=True)
class SealedIndex:
    """A suite's fingerprints under its key."""

    key: bytes
    packages: frozenset[str]

    @classmethod
    def parse(cls, text: str, key: bytes) -> SealedIndex:
        """Reads `index.json`.

        Raises:
            SealedIndexError: it does not parse, or was sealed under another key.
        """
        try:
            index = IndexFile.model_validate_json(text)
        except ValidationError as exc:
            raise SealedIndexError("the suite's index cannot be read") from exc
        if not hmac.compare_digest(index.check, _keyed(key, "check")):
            raise SealedIndexError("the suite's index was sealed under another key")
        return cls(key, frozenset(index.packages))

    def holds(self, root: Path) -> bool:
        """Whether the package at `root` has the content of a suite task."""
        return _keyed(self.key, content_digest(root)) in self.packages


def seal(roots: Iterable[Path], key: bytes) -> str:
    """The `index.json` of a suite's packages, in no order that says which is which."""
    packages = sorted(_keyed(key, content_digest(root)) for root in roots)
    index = IndexFile(check=_keyed(key, "check"), packages=packages)
    return json.dumps(index.model_dump(), indent=1) + "\n"


def content_digest(root: Path) -> str:
    """sha256 over a package's sorted files and contents; its folder's name is no part of it."""
    digest = hashlib.sha256()
    for file in list_files(root).files:
        content = hashlib.sha256((root / file.path).read_bytes()).hexdigest()
        digest.update(f"{file.path}\0{content}\n".encode())
    return digest.hexdigest()


def _keyed(key: bytes, text: str) -> str:
    return hmac.new(key, b"index:" + text.encode(), hashlib.sha256).hexdigest()
