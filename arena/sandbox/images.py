"""The image of a task package, built once for the content of its `environment/`."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from arena.packages import TaskPackage
from arena.sandbox.archives import regular_files
from arena.sandbox.builder import Builder
from arena.sandbox.buildlog import failure, readable
from arena.sandbox.context import build_context
from arena.sandbox.engine import LABEL, Engine
from arena.sandbox.errors import BuildError, EngineError, RegistryTrouble
from arena.sandbox.foreign import foreign
from arena.sandbox.imagecache import trim
from arena.sandbox.preflight import unbuildable
from arena.sandbox.registries import own_registries
from arena.sandbox.results import Limits

REPOSITORY = "posttrain-arena/environment"
# scripts/run_local.sh names its images so; what it leaves when it is killed goes with the others.
_LOCAL_REPOSITORY = "posttrain-arena/local"

# Before a registry of an author's own is asked again; with the first, three tries in all.
REGISTRY_PAUSES_SEC = (2.0, 10.0)
# Whether this machine reaches registries at all is asked about this image, which is not pulled.
WELL_KNOWN = "docker.io/library/busybox:latest"


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

    def __init__(self, engine: Engine, cache_bytes: int) -> None:
        self._engine = engine
        self._builder = Builder(engine.url)
        self._cache_bytes = cache_bytes
        self._lock = threading.Lock()
        self._building: dict[str, threading.Lock] = {}
        self._known: dict[str, Image] = {}
        self._digests: dict[tuple[object, ...], str] = {}
        self._given_up: set[frozenset[str]] = set()

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
                text = (environment / "Dockerfile").read_text("utf-8", "replace")
                is_new = unbuildable(text, self._engine.version) is None
                if refused := foreign(text, limits.network, has_heredocs=is_new):
                    raise BuildError(package.name, f"environment/Dockerfile, {refused}", "")
                tag = f"{REPOSITORY}:{digest[:24]}"
                found = self._find(tag)
                if found is None:
                    self._build_patiently(package, tag, network, limits)
                    found = self._find(tag)
                if found is None:
                    raise EngineError(f"the image {tag} vanished after its build")
                # Counts as a use: the images that go first are those named longest ago.
                self._engine.tag(found.id, *tag.split(":"))
                self._known[digest] = found
            return self._known[digest]

    def forget(self) -> None:
        """Ask the engine again: somebody may have removed images."""
        self._known.clear()

    def trim(self) -> None:
        """Keep the images within their limit, as far as that goes: no work waits for it."""
        with suppress(EngineError):
            trim(self._engine, (REPOSITORY, _LOCAL_REPOSITORY), self._cache_bytes)

    def abandon(self) -> None:
        """End the builds that run, and begin no other."""
        self._builder.abandon()

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

    def _build_patiently(
        self, package: TaskPackage, tag: str, network: str, limits: Limits
    ) -> None:
        """Build; where a registry of the author's has trouble, a few times.

        Raises BuildError in the end where others answer: then it is no trouble of this machine's.
        """
        dockerfile = (package.root / "environment" / "Dockerfile").read_text("utf-8", "replace")
        known = own_registries(dockerfile) in self._given_up
        for pause in () if known else REGISTRY_PAUSES_SEC:
            try:
                return self._build(package, tag, network, limits)
            except RegistryTrouble:
                time.sleep(pause)
        try:
            return self._build(package, tag, network, limits)
        except RegistryTrouble as error:
            self._given_up.add(error.registries)
            if not self._engine.has_registry(WELL_KNOWN):
                raise
            named = ", ".join(sorted(error.registries))[:200]
            why = f"{named} does not answer as a registry should, while others do ({error})"
            raise BuildError(package.name, why, error.log) from error

    def _build(self, package: TaskPackage, tag: str, network: str, limits: Limits) -> None:
        try:
            context = build_context(package.root / "environment")
        except ValueError as error:
            raise BuildError(package.name, str(error), "") from error
        options = ["--tag", tag, "--network", network, "--label", f"{LABEL}=image"]
        # Cache mounts are shared by all builds of an engine; so only by those of one content.
        options += ["--build-arg", f"BUILDKIT_CACHE_MOUNT_NS={tag}"]
        built = self._builder.build(context, options, limits.build_sec)
        if built.exit_code is None:
            raise BuildError(package.name, "its time is up", readable(built.log))
        if built.exit_code < 0:
            raise EngineError(f"the build of {package.name} was ended by a signal")
        if built.exit_code > 0:
            dockerfile = package.root / "environment" / "Dockerfile"
            named = own_registries(dockerfile.read_text("utf-8", "replace"))
            raise failure(package.name, built.log, named)
