"""A Dockerfile as instructions: directives, comments, continuations, heredocs, as Docker reads.

The one maintained Python parser (dockerfile-parse) knows no heredocs, so a RUN with one would be
read as instructions of its own.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import NamedTuple

_ESCAPE = re.compile(r"^#\s*escape\s*=\s*([\\`])\s*$", re.I)
_DIRECTIVE = re.compile(r"^#\s*\w+\s*=")
_HEREDOC = re.compile(r"<<-?\s*([\"']?)([A-Za-z_][A-Za-z0-9_]*)\1")
_FLAG = re.compile(r"^--[a-z-]+(=\S*)?$")


class Instruction(NamedTuple):
    """One instruction: its upper-case name, the text after it, the line (1-based) it begins at."""

    name: str
    value: str
    line: int


def parse_dockerfile(text: str) -> list[Instruction]:
    """The instructions of a Dockerfile, in order."""
    lines = text.removeprefix("\ufeff").splitlines()
    escape = _escape_character(lines)
    instructions: list[Instruction] = []
    index = 0
    while index < len(lines):
        start, parts = index, list[str]()
        while index < len(lines):
            line = lines[index].rstrip()
            index += 1
            if line.lstrip().startswith("#") or (parts and not line):
                continue  # comments and empty lines may stand inside a continued instruction
            parts.append(line.removesuffix(escape))
            if not line.endswith(escape):
                break
        stripped = " ".join(parts).strip()
        if not stripped:
            continue
        name, _, value = stripped.partition(" ")
        while not lines[start].strip() or lines[start].lstrip().startswith("#"):
            start += 1
        instructions.append(Instruction(name.upper(), value.strip(), start + 1))
        if name.upper() in {"RUN", "COPY", "ADD"}:
            index = _after_heredocs(lines, index, value)
    return instructions


def copy_sources(instruction: Instruction) -> list[str] | None:
    """What a COPY or ADD takes from the build context; None where it takes from elsewhere.

    Another stage (`--from`), an address (`https://`, `git@`) and a heredoc are elsewhere.
    """
    if "<<" in instruction.value:
        return None
    words = instruction.value.split()
    flags = [word for word in words if _FLAG.match(word)]
    if any(flag.startswith("--from") for flag in flags):
        return None
    rest = instruction.value
    while rest.startswith("--"):
        rest = rest.partition(" ")[2].lstrip()
    paths = _words(rest)
    return [path for path in paths[:-1] if not re.match(r"^(\w+://|git@)", path)]


def _words(text: str) -> list[str]:
    if text.startswith("["):
        try:
            return [str(word) for word in json.loads(text)]
        except (ValueError, RecursionError):
            pass  # not the JSON form: Docker reads it as words, and so do we
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _escape_character(lines: list[str]) -> str:
    for line in lines:
        if match := _ESCAPE.match(line):
            return match[1]
        if not _DIRECTIVE.match(line):
            break
    return "\\"


def _after_heredocs(lines: list[str], index: int, value: str) -> int:
    for _, word in _HEREDOC.findall(value):
        while index < len(lines) and lines[index].strip("\t") != word:
            index += 1
        index += 1
    return index
