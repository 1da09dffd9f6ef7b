"""What a Dockerfile may not take from the engine that builds it.

The engine holds images of other packages, a suite's among them, and it stands in the host's
network: it fetches by itself what ADD names by an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from arena.packages.dockerfile import Dockerfile, arguments, base_images, parse_dockerfile

_OURS = re.compile(r"(docker\.io/)?posttrain-arena/.*", re.I)
_BY_ID = re.compile(r"(sha256:)?[0-9a-f]{12,64}")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://.*|git@.*", re.I | re.S)


def foreign(dockerfile: str, has_network: bool) -> str | None:
    """Which line takes something from elsewhere that it may not, and what; None where none does."""
    parsed = parse_dockerfile(dockerfile)
    images = [*base_images(parsed), *mounted(parsed)]
    for image, line in images:
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
        for word in instruction.value.split():
            if not word.startswith("--"):
                break
            mount = word.removeprefix("--mount=")
            options = dict(part.partition("=")[::2] for part in mount.split(","))
            if mount != word and "from" in options:
                yield options["from"], instruction.line


def added(dockerfile: Dockerfile) -> Iterator[tuple[str, int]]:
    """What the engine would fetch; a variable could hold an address."""
    for instruction in dockerfile.instructions:
        for source in arguments(instruction)[:-1] if instruction.name == "ADD" else ():
            if source.startswith("$") or _ADDRESS.fullmatch(source):
                yield source, instruction.line
