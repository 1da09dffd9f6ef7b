"""What a run used, by digest and version."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version
from pathlib import Path

import arena

_PACKAGES = (
    "torch",
    "transformers",
    "trl",
    "peft",
    "accelerate",
    "datasets",
    "tokenizers",
    "huggingface-hub",
    "docker",
)


def software_versions() -> dict[str, str]:
    """The versions of Python, the arena and what a score could depend on."""
    versions = {name: version(name) for name in _PACKAGES}
    return {"python": platform.python_version(), "arena": arena.__version__, **versions}


def code_digest() -> str:
    """The digest of the arena's own code."""
    return folder_digest(Path(arena.__file__).parent, "*.py")


def folder_digest(folder: Path, pattern: str = "*") -> str:
    """sha256 over the sorted lines `path NUL sha256(bytes)` of a folder's files."""
    lines = sorted(
        f"{path.relative_to(folder).as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in folder.rglob(pattern)
        if path.is_file()
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
