"""What a Dockerfile may not take from the engine that builds it.

The engine holds images of other packages, a suite's among them, and it stands in the host's
network: it fetches by itself what ADD names by an address.

Docker reads a reference in more ways than are worth following: quotes, escapes, variables with
operators. So one that is not written plainly is refused, whatever it comes to. Behind that stands
that nobody can name what they do not know: an image's tag is a digest of its `environment/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from arena.packages.dockerfile import (
    Dockerfile,
    Instruction,
    arguments,
    flags,
    parse_dockerfile,
    without_flags,
)

_OURS = re.compile(r"((index\.)?docker\.io/)?posttrain-arena/.*", re.I)
_BY_ID = re.compile(r"(sha256:)?[0-9a-f]{12,64}", re.I)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://.*|git@.*", re.I | re.S)
_PLAIN = re.compile(r"[\w.:/@-]+", re.ASCII)
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::-([\w.:/@-]*))?\})", re.ASCII)
# The builder gives these a value of its own.
_BUILDERS = re.compile(
    r"(BUILD|TARGET)(PLATFORM|OS|OSVERSION|ARCH|VARIANT)|TARGETSTAGE|BUILDKIT_.*"
    r"|(HTTPS?|FTP|NO|ALL)_PROXY",
    re.I,
)
_UNCLEAR = re.compile(r"[\"'\\`]")


def foreign(dockerfile: str, has_network: bool, *, has_heredocs: bool = True) -> str | None:
    """Which line takes something from elsewhere that it may not, and what; None where none does.

    `has_heredocs` False: the engine knows none, and reads their lines as instructions.
    """
    parsed = parse_dockerfile(dockerfile)
    for instruction in parsed.instructions if not has_heredocs else ():
        for body in instruction.heredocs:
            if found := foreign(body, has_network, has_heredocs=False):
                return f"below line {instruction.line}, {found}"
    for image, line in _images(parsed):
        if not _PLAIN.fullmatch(image):
            return (
                f"line {line}: {image[:40]!r} does not name an image plainly; write it without "
                "quotes, and with no variable but an ARG above the first FROM that has a default"
            )
        if _OURS.fullmatch(image) or _BY_ID.fullmatch(image):
            return f"line {line}: {image[:40]!r} names an image of this engine, not of a registry"
    for source, line in [] if has_network else added(parsed):
        return (
            f"line {line}: ADD of {source[:80]!r} may need the network, which the package does not "
            "declare; put the file into environment/ and name it"
        )
    return None


def mounted(dockerfile: Dockerfile) -> Iterator[tuple[str, int]]:
    """What `RUN --mount=type=bind,from=…` takes from."""
    for instruction in dockerfile.instructions:
        for word in _flag_words(instruction):
            options = (part.partition("=") for part in word.removeprefix("--mount=").split(","))
            for key, _, value in options if word.startswith("--mount=") else ():
                if key.strip().lower() == "from":
                    yield value, instruction.line


def added(dockerfile: Dockerfile) -> Iterator[tuple[str, int]]:
    """What the engine would fetch; a variable could hold an address."""
    for instruction in dockerfile.instructions:
        for source in arguments(instruction)[:-1] if instruction.name == "ADD" else ():
            if source.startswith("$") or _ADDRESS.fullmatch(source):
                yield source, instruction.line


def _images(parsed: Dockerfile) -> Iterator[tuple[str, int]]:
    """What is taken from images, by stages and numbers of stages too; not plain where unclear."""
    defaults: dict[str, str | None] = {}
    begun = False
    mounts = list(mounted(Dockerfile([_inner(one) for one in parsed.instructions], [])))
    for instruction in map(_inner, parsed.instructions):
        line = instruction.line
        for word in _flag_words(instruction):
            if instruction.name in {"FROM", "COPY", "ADD", "RUN"} and _UNCLEAR.search(word):
                yield word, line
        if instruction.name == "ARG" and not begun:
            for word in instruction.value.split():
                name, has_default, value = word.partition("=")
                clear = has_default and name not in defaults and not _BUILDERS.fullmatch(name)
                defaults[name] = value.strip("\"'") if clear else None
        elif instruction.name == "FROM":
            begun = True
            words = without_flags(instruction.value).split()
            if words and words[0]:
                yield _resolved(words[0], defaults), line
        elif origin := flags(instruction).get("from", ""):
            yield origin, line
        yield from (mount for mount in mounts if mount[1] == line)


def _inner(instruction: Instruction) -> Instruction:
    """An instruction that another image's build is to run, as one of its own."""
    if instruction.name != "ONBUILD":
        return instruction
    name, _, value = instruction.value.partition(" ")
    return _inner(Instruction(name.upper(), value.strip(), instruction.line))


def _flag_words(instruction: Instruction) -> Iterator[str]:
    """The words before an instruction's arguments, of which quotes may hold more than is seen."""
    for word in instruction.value.split():
        if not word.startswith("--"):
            break
        yield word


def _resolved(image: str, defaults: dict[str, str | None]) -> str:
    """With its variables filled in; those that are not known stay, and are not plain."""

    def value(match: re.Match[str]) -> str:
        known = defaults.get(match[1] or match[2])
        return known or match[3] or match[0] if known is not None else match[0]

    return _VARIABLE.sub(value, image)
