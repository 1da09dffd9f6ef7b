"""The image of a task package, built once for the content of its `environment/`."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.packages import TaskPackage
from arena.sandbox.archives import Bundle, regular_files
from arena.sandbox.engine import Engine
from arena.sandbox.errors import BuildError, EngineError, EngineUnavailable
from arena.sandbox.results import Limits

REPOSITORY = "posttrain-arena/environment"
_LOG_CHARACTERS = 4000

# What the engine says when a registry, the network or the disk failed, not the Dockerfile.
_NOT_THE_AUTHORS = re.compile(
    r"toomanyrequests|too many requests|i/o timeout|handshake timeout|no such host|dial tcp"
    r"|connection (refused|reset)|deadline exceeded|Client\.Timeout|unexpected EOF"
    r"|50[0-9] (internal|bad|service|gateway)|no space left on device",
    re.IGNORECASE,
)
_A_COMMAND_FAILED = "returned a non-zero code"


@dataclass(frozen=True)
class Image:
    """A built image: its id, and what it says of the processes that start in it."""

    id: str
    workdir: str = "/"
    user: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    volumes: tuple[str, ...] = ()


class Images:
    """The images of one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._building: dict[str, threading.Lock] = {}
        self._known: dict[str, Image] = {}
        self._digests: dict[tuple[object, ...], str] = {}

    def ensure(self, package: TaskPackage, limits: Limits) -> Image:
        """The package's image, built where the engine lacks it."""
        environment = package.root / "environment"
        # Whether the build had network is part of what it made.
        network = "default" if limits.network else "none"
        digest = hashlib.sha256(f"{network}\0{self._digest(environment)}".encode()).hexdigest()
        with self._lock:
            lock = self._building.setdefault(digest, threading.Lock())
        with lock:
            if digest not in self._known:
                tag = f"{REPOSITORY}:{digest[:24]}"
                found = self._find(tag)
                if found is None:
                    self._build(package, tag, network, limits)
                    found = self._find(tag)
                if found is None:
                    raise EngineError(f"the image {tag} vanished after its build")
                self._known[digest] = found
            return self._known[digest]

    def forget(self) -> None:
        """Ask the engine again: somebody may have removed images."""
        self._known.clear()

    def _digest(self, folder: Path) -> str:
        """Of a folder's content; read again only where a file's size or time changed."""
        files = regular_files(folder)
        states = [(path, path.stat()) for path in files]
        key = tuple(
            (path, state.st_size, state.st_mtime_ns, state.st_mode) for path, state in states
        )
        if key not in self._digests:
            content = hashlib.sha256()
            for path, state in states:
                executable = bool(state.st_mode & 0o111)
                of_file = hashlib.sha256(path.read_bytes()).hexdigest()
                name = path.relative_to(folder).as_posix()
                content.update(f"{name}\0{executable:d}\0{of_file}\n".encode())
            self._digests[key] = content.hexdigest()
        return self._digests[key]

    def _find(self, tag: str) -> Image | None:
        found = self._engine.image(tag)
        if found is None:
            return None
        config = found["Config"]
        return Image(
            str(found["Id"]),
            workdir=config.get("WorkingDir") or "/",
            user=config.get("User") or "",
            env=dict(pair.split("=", 1) for pair in config.get("Env") or () if "=" in pair),
            volumes=tuple(config.get("Volumes") or ()),
        )

    def _build(self, package: TaskPackage, tag: str, network: str, limits: Limits) -> None:
        context = _context(package.root / "environment")
        build = _Build(package.name, time.monotonic() + limits.build_sec)
        build.follow(self._engine.build(context, tag, network, limits))


class _Build:
    """Follows what the engine says of one package's build, until it ends or its time does."""

    def __init__(self, package: str, deadline: float) -> None:
        self._package = package
        self._deadline = deadline
        self._log = ""

    def follow(self, messages: Iterator[dict[str, Any]]) -> None:
        try:
            for message in messages:
                self._log = (self._log + str(message.get("stream", "")))[-_LOG_CHARACTERS:]
                if "error" in message:
                    raise self._failure(str(message["error"]).strip())
                if time.monotonic() > self._deadline:
                    # Closing the connection, which leaving the loop does, ends the build.
                    raise BuildError(self._package, "its time is up", self._log)
        except EngineUnavailable as error:
            # A silent build meets the client's limit, which is the same.
            if "timed out" not in str(error):
                raise
            raise BuildError(self._package, "its time is up", self._log) from error
        except EngineError as error:
            # A Dockerfile that does not parse is refused at once, without a log.
            if error.status != 400:
                raise
            raise BuildError(self._package, str(error), self._log) from error

    def _failure(self, why: str) -> Exception:
        if _A_COMMAND_FAILED not in why and _NOT_THE_AUTHORS.search(why):
            return EngineError(f"the build of {self._package} met trouble: {why}")
        return BuildError(self._package, why, f"{self._log}{why}")


def _version(state: os.stat_result) -> tuple[int, int, int]:
    return state.st_size, state.st_mtime_ns, state.st_mode


def _context(folder: Path) -> bytes:
    """The build context without times and owners, which would miss the engine's layer cache."""
    bundle = Bundle()
    for path in sorted({parent for file in regular_files(folder) for parent in file.parents}):
        if folder in path.parents:
            bundle.add_folder(path.relative_to(folder).as_posix())
    for path in regular_files(folder):
        mode = 0o755 if path.stat().st_mode & 0o111 else 0o644
        bundle.add_file(path.relative_to(folder).as_posix(), path.read_bytes(), mode)
    return bundle.finish()
