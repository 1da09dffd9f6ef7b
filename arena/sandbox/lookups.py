"""Where an image's own programs look for others, for modules and for settings, as they say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arena.sandbox.archives import IN_CONTAINER
from arena.sandbox.engine import Engine
from arena.sandbox.errors import EngineError, is_the_containers
from arena.sandbox.frames import Reader

# Both well above what an image with several Pythons takes; what was said by then counts.
_SECONDS = 20.0
_MAX_OUTPUT = 256 << 10
_SCRIPT = (IN_CONTAINER / "lookups.sh").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Lookups:
    """Absolute paths, by the names that programs use and by where these lead.

    `programs`: folders of programs. `packages`: folders to which Python's packages are added.
    `closed`: folders of modules, and files, that nobody adds to. `homes`: of the image's users.
    """

    programs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()

    @classmethod
    def parse(cls, lines: Iterable[str]) -> Lookups:
        """What the script said; a line that it cannot have written is none."""
        found: dict[str, set[str]] = {kind: set() for kind in cls.__dataclass_fields__}
        for line in lines:
            kind, _, path = line.partition(" ")
            if kind in found and len(path) > 1 and path.startswith("/"):
                found[kind].add(path.rstrip("/"))
        return cls(**{kind: tuple(sorted(paths)) for kind, paths in found.items()})


def ask(engine: Engine, container: str) -> Lookups:
    """Ask in a container of the image which runs, and in which no agent acted.

    Where that has ended by itself nothing is known: no verifier will run in it either.
    """
    try:
        execution = engine.exec_create(container, ["sh", "-c", _SCRIPT], "0")
        reader = Reader(engine, execution, _MAX_OUTPUT)
        reader.wait(_SECONDS)
    except EngineError as error:
        if is_the_containers(error):
            return Lookups()
        raise
    return Lookups.parse(reader.text().splitlines())
