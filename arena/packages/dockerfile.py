"""A Dockerfile as instructions: directives, comments, continuations, heredocs, as Docker reads.

BuildKit's own parser has a Python binding (`dockerfile`), but no wheel for every machine that an
author works on, and a fault in it ends the whole process. So the tests hold this reader against
that binding, and the arena does without. `dockerfile-parse` knows no heredocs.
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

_ESCAPE = re.compile(r"^#\s*escape\s*=\s*([\\`])\s*$", re.I)
_DIRECTIVE = re.compile(r"^#\s*\w+\s*=")
_HEREDOC = re.compile(r"\d*<<(-?)([^<]+)")
_FLAG = re.compile(r"--[a-z-]+(=\S*)?")
_FLAG_AND_BLANKS = re.compile(_FLAG.pattern + r"\s*")
_ARGUMENT = re.compile(r"\$(?:\{(\w+)(?::?-([^{}]*))?\}|(\w+))")
_NAMES = frozenset(
    {"ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL",
     "MAINTAINER", "ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"}
)  # fmt: skip
_WITH_HEREDOC = frozenset({"ADD", "COPY", "RUN"})
MAX_REFERENCE = 1_000
MAX_WORDS_LENGTH = 10_000
"""Longer instructions are not split into words; they cost too much, and nobody writes them."""


class Instruction(NamedTuple):
    """One instruction: its upper-case name, the text after it, the line (1-based) it begins at.

    `heredocs` are the bodies of its here-documents, in order.
    """

    name: str
    value: str
    line: int
    heredocs: tuple[str, ...] = ()


class Dockerfile(NamedTuple):
    """The instructions in order, and what Docker would refuse to read: (line, problem, hint)."""

    instructions: list[Instruction]
    problems: list[tuple[int, str, str]]


def parse_dockerfile(text: str) -> Dockerfile:
    """Reads a Dockerfile; what can't be read becomes a problem, never an exception."""
    lines = text.removeprefix("\ufeff").split("\n")
    escape = _escape_character(lines)
    parsed = Dockerfile([], [])
    index = 0
    while index < len(lines):
        line_number, text_of, index = _joined(lines, index, escape)
        name, _, value = text_of.partition(" ")
        if not name:
            continue
        name, value = name.upper(), value.strip()
        if name not in _NAMES:
            near = difflib.get_close_matches(name[:40], _NAMES, 1)
            hint = (
                f"Did you mean {near[0]}?" if near else f"Docker knows {', '.join(sorted(_NAMES))}."
            )
            parsed.problems.append((line_number, f"{name[:40]!r} is no instruction", hint))
        bodies: list[str] = []
        for stripped, word in heredoc_words(name, value):
            body, index = _heredoc(lines, index, stripped, word)
            if body is None:
                problem = f"the here-document {word[:40]!r} does not end"
                hint = f"End it with a line that holds {word[:40]!r} and nothing else."
                parsed.problems.append((line_number, problem, hint))
            bodies.append(body or "")
        instruction = Instruction(name, value, line_number, tuple(bodies))
        if lack := _lacks(instruction):
            parsed.problems.append((line_number, lack, f"Write it out, or take {name} away."))
        parsed.instructions.append(instruction)
    return parsed


def _lacks(instruction: Instruction) -> str | None:
    """What an instruction needs and does not have."""
    name = instruction.name
    if name in {"ADD", "COPY"} and len(arguments(instruction)) < 2:
        return f"{name} needs a source and a target"
    return f"{name} needs something after it" if name in _NAMES and not instruction.value else None


def _joined(lines: list[str], index: int, escape: str) -> tuple[int, str, int]:
    """One instruction's text with its continuations: (line, text, index after it)."""
    first, parts = 0, list[str]()
    while index < len(lines):
        line = lines[index].rstrip()
        index += 1
        if line.lstrip().startswith("#") or (parts and not line):
            continue  # comments and empty lines may stand inside a continued instruction
        first = first or index
        parts.append(line.removesuffix(escape) if line.endswith(escape) else line)
        if not line.endswith(escape):
            break
    return first, re.sub(r"^(\S+)\s+", r"\1 ", "".join(parts).strip()), index


def heredoc_words(name: str, value: str) -> Iterator[tuple[bool, str]]:
    """The here-documents that an instruction opens: (tabs are stripped, end word)."""
    if name == "ONBUILD":
        name, _, value = value.partition(" ")
    if name.upper() not in _WITH_HEREDOC or "<<" not in value:
        return
    for word in _shell_words(value, keep_quotes=True):
        if match := _HEREDOC.fullmatch(word):
            end = match[2].replace('"', "").replace("'", "")
            if end:
                yield bool(match[1]), end


def _heredoc(lines: list[str], index: int, stripped: bool, word: str) -> tuple[str | None, int]:
    body: list[str] = []
    while index < len(lines):
        line = lines[index].removesuffix("\r")
        if (line.lstrip("\t") if stripped else line) == word:
            return "".join(f"{above}\n" for above in body), index + 1
        body.append(line)
        index += 1
    return None, index


def flags(instruction: Instruction) -> dict[str, str]:
    """The `--name=value` flags before an instruction's arguments."""
    found: dict[str, str] = {}
    for word in instruction.value.split():
        if not _FLAG.fullmatch(word):
            break
        name, _, value = word[2:].partition("=")
        found[name] = value
    return found


def arguments(instruction: Instruction) -> list[str]:
    """An instruction's words after its flags, of the shell form or the JSON form."""
    rest = without_flags(instruction.value)
    if rest.startswith("["):
        try:
            words = json.loads(rest)
            if isinstance(words, list):
                return [str(word) for word in words]
        except (ValueError, RecursionError):
            pass  # not the JSON form: Docker reads it as words, and so do we
    return _shell_words(rest)


def without_flags(value: str) -> str:
    """An instruction's text after its flags."""
    start = 0
    while match := _FLAG_AND_BLANKS.match(value, start):
        start = match.end()
    return value[start:]


def copy_sources(instruction: Instruction) -> list[str]:
    """What a COPY or ADD takes from the build context.

    Another stage (`--from`), an address (`https://`, `git@`) and a here-document are elsewhere.
    """
    if "from" in flags(instruction):
        return []
    paths = arguments(instruction)[:-1]
    return [p for p in paths if not re.match(r"\w+://|git@", p) and not _HEREDOC.fullmatch(p)]


def base_images(dockerfile: Dockerfile) -> Iterator[tuple[str, int]]:
    """The images that a build pulls: (reference with default arguments filled in, line).

    Stages of the same file and `scratch` are not pulled; a reference whose argument has no default
    is left out, since only the build knows it.
    """
    defaults: dict[str, str] = {}
    stages: set[str] = set()
    for instruction in dockerfile.instructions:
        if instruction.name == "ARG" and not stages:
            pairs = (word.partition("=") for word in arguments(instruction))
            defaults |= {name: value[:MAX_REFERENCE] for name, _, value in pairs}
        image = _image_of(instruction, defaults)
        if image and "$" not in image and image != "scratch" and image.lower() not in stages:
            yield image, instruction.line
        if instruction.name == "FROM":
            words = arguments(instruction)
            stages.add(words[2].lower() if len(words) > 2 and words[1].lower() == "as" else "")


def _image_of(instruction: Instruction, defaults: dict[str, str]) -> str:
    """What an instruction builds on or copies from; empty for a stage by its number."""
    if instruction.name == "FROM":
        words = arguments(instruction)
        return _filled(words[0][:MAX_REFERENCE], defaults) if words else ""
    origin = flags(instruction).get("from", "") if instruction.name == "COPY" else ""
    return "" if origin.isdecimal() else origin


def _filled(text: str, defaults: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        return defaults.get(match[1] or match[3]) or match[2] or match[0]

    return _ARGUMENT.sub(value, text)


def _shell_words(text: str, keep_quotes: bool = False) -> list[str]:
    if not any(mark in text for mark in "'\"\\"):
        return text.split()  # most have nothing quoted, and shlex is slow
    if len(text) > MAX_WORDS_LENGTH:
        return text.split()[:1000]
    lexer = shlex.shlex(text, posix=not keep_quotes, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError:
        return text.split()


def _escape_character(lines: list[str]) -> str:
    for line in lines:
        if match := _ESCAPE.match(line):
            return match[1]
        if not _DIRECTIVE.match(line):
            break
    return "\\"
