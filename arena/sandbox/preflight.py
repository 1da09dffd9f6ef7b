"""What an engine is too old to build, told before anything starts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from arena.packages.dockerfile import Instruction, flags, parse_dockerfile

# The first major version of the engine whose own BuildKit reads it.
_HEREDOC = 23
_FLAGS = {
    ("ADD", "link"): 23,
    ("COPY", "link"): 23,
    ("RUN", "network"): 23,
    ("ADD", "checksum"): 25,
    ("HEALTHCHECK", "start-interval"): 25,
}


class _Need(NamedTuple):
    what: str
    version: int


def unbuildable(dockerfile: str, engine: str) -> str | None:
    """Why an engine of this version cannot build a Dockerfile; None where it can, for all we know.

    A version that is no number, as of an engine built from source, is taken for a new one.
    """
    major = int(found[0]) if (found := re.match(r"[1-9]\d*(?=\.)", engine)) else None
    if major is None:
        return None
    for instruction in parse_dockerfile(dockerfile).instructions:
        for need in _needs(instruction):
            if major < need.version:
                return (
                    f"environment/Dockerfile, line {instruction.line}: {need.what} needs a Docker "
                    f"engine of version {need.version} or newer; this one is {engine}"
                )
    return None


def _needs(instruction: Instruction) -> Iterator[_Need]:
    if instruction.heredocs:
        yield _Need("a here-document", _HEREDOC)
    for flag in flags(instruction):
        version = _FLAGS.get((instruction.name, flag))
        if version is not None:
            yield _Need(f"{instruction.name} --{flag}", version)
