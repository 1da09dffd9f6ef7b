"""Scoring what an agent left, in a fresh container of the same image.

Only the carried paths cross over. So the agent's processes are gone, the programs it replaced do
not run, and the folder that the reward is read from is new.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from arena.packages import TaskPackage
from arena.sandbox.archives import IN_CONTAINER, Bundle, small_files
from arena.sandbox.carrying import SCRIPT
from arena.sandbox.engine import HOSTS, Engine
from arena.sandbox.errors import (
    CannotStart,
    EndedEarly,
    UnreadableLists,
    blaming_the_agent,
    of_the_image,
)
from arena.sandbox.guard import STAGE, home_of
from arena.sandbox.images import Image
from arena.sandbox.lookups import Lookups, ask
from arena.sandbox.results import Limits
from arena.sandbox.reward import JSON, MAX_BYTES, TEXT, InvalidReward, read_reward
from arena.sandbox.session import background, script_argv
from arena.sandbox.watching import heard, watched

VERIFIED = "verified"
"""The detail of a verdict that nothing is to be said about."""

_LOGS = "/logs/verifier"
_PYTHON = "/.arena-python"
_MAX_LOGS_BYTES = 64 << 20

# What follows in a script happens once `Engine.release` has let it; and reads no input.
_AWAIT = "read -r _ || exit\nexec < /dev/null"

_PYTEST_FILES = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")

ENVIRONMENT = {
    "BENCHFLOW_VERIFIER_DIR": "/verifier",
    "BENCHFLOW_REWARD_TEXT": f"{_LOGS}/{TEXT}",
    "BENCHFLOW_REWARD_JSON": f"{_LOGS}/{JSON}",
    "BENCHFLOW_REWARD_DETAILS_JSON": f"{_LOGS}/reward-details.json",
    "BENCHFLOW_CTRF_JSON": f"{_LOGS}/ctrf.json",
    "BENCHFLOW_PYTEST_BIN": "pytest",
    # Packages that the agent left in its home are not the verifier's.
    "PYTHONNOUSERSITE": "1",
}


@dataclass(frozen=True)
class Verdict:
    """What one verification came to."""

    reward: float | None
    detail: str
    output: str


class Verifier:
    """The container that is to judge, and one for the services where the package has some.

    Both are started when this is made, which may be while the agent acts: nothing of the agent's
    is in them, nothing in them listens, and their shells wait until they are let go.
    """

    def __init__(self, engine: Engine, package: TaskPackage, image: Image, limits: Limits) -> None:
        self._engine = engine
        self._package = package
        self._limits = limits
        self._services: str | None = None
        self._judge: str | None = None
        try:
            with of_the_image():
                self._start(package, image)
        except BaseException as error:
            self.discard()
            if isinstance(error, CannotStart) and self._lost_its_services():
                why = "the services' container ended before the verifier began"
                raise EndedEarly(why) from error
            raise

    def lookups(self) -> Lookups:
        """Where the image's programs look for others; to be asked before anything is received."""
        assert self._judge
        return ask(self._engine, self._judge)

    def receive(self, carried: Future[bytes], acted: bool) -> None:
        """Put the package's files and the agent's in, which may still be under way.

        The engine needs a while before it unpacks; so the package's go first, as soon as may be.
        `acted`: there was an agent to blame for what cannot be put.
        """
        with blaming_the_agent() if acted else of_the_image():
            if self._services:
                self._engine.put(self._services, _as_they_come(b"", carried))
                self._engine.release(self._services)
            if self._judge:
                self._engine.put(self._judge, _as_they_come(_of_package(self._package), carried))

    def verdict(self) -> Verdict:
        """Run the verifier, once, on what was received."""
        assert self._judge
        try:
            self._engine.release(self._judge)
        except EndedEarly as error:
            error.output = heard(self._engine, self._judge)
            raise
        limits = self._limits
        ended = watched(self._engine, self._judge, limits.verifier_sec, limits.storage_mb)
        if isinstance(ended, str):
            return Verdict(None, f"the verifier {ended}", heard(self._engine, self._judge))
        return _verdict(self._engine, self._judge)

    def discard(self) -> None:
        """Remove the containers, in the background."""
        for container in (self._judge, self._services):
            if container:
                self._engine.remove_later(container)

    def _start(self, package: TaskPackage, image: Image) -> None:
        if package.services:
            # Without an init before it the script is process 1, which nothing inside can kill.
            script = _services_script(package, image)
            self._services = self._create(image, script, init=False)
            self._engine.start(self._services)
        self._judge = self._create(
            image,
            _script(package, image),
            network_of=self._services,
            environment=_environment(package, image),
        )
        self._engine.start(self._judge)

    def _lost_its_services(self) -> bool:
        """Whether the judge had no network to join, because what holds it has ended."""
        if not (self._services and self._judge):
            return False
        return not self._engine.is_running(self._services)

    def _create(self, image: Image, script: Sequence[str], **more: Any) -> str:
        argv = ["sh", "-c", "\n".join([HOSTS, _AWAIT, *script])]
        return self._engine.create(image.id, argv, self._limits, stdin_open=True, **more)


def _as_they_come(first: bytes, carried: Future[bytes]) -> Iterator[bytes]:
    yield first
    yield carried.result()


def _environment(package: TaskPackage, image: Image) -> dict[str, str]:
    of_image = image.env.get("PYTHONPATH")
    # A folder of the PATH that is not named from the root is whichever one the verifier is in, and
    # may be the agent's: the image's programs are found before those in it.
    folders = image.env.get("PATH", "").split(":")
    folders.sort(key=lambda folder: folder[:1] != "/")
    path = {"PATH": ":".join(folders)} if image.env.get("PATH") else {}
    return (
        ENVIRONMENT
        | path
        | {
            "HOME": home_of(image),
            "BENCHFLOW_WORKSPACE": package.workspace,
            "PYTHONPATH": f"{_PYTHON}:{of_image}" if of_image else _PYTHON,
        }
    )


def _services_script(package: TaskPackage, image: Image) -> list[str]:
    """The package's services, from the image and the agent's files.

    In a container of their own, so that what the agent made of their files is at most an answer on
    the network that they share with the verifier.
    """
    return [*_beginning(image), background(package.services), "while :; do sleep 3600; done"]


def _of_package(package: TaskPackage) -> bytes:
    """The verifier's folder, and what keeps its Python and pytest from the agent's files."""
    bundle = Bundle()
    folder = package.root / "verifier"
    bundle.add_tree("verifier", folder)
    if not any(_configures_pytest(folder / name) for name in _PYTEST_FILES):
        # Without one, pytest takes its settings from the folder that it is started in: the agent's.
        bundle.add_file("verifier/pytest.ini", b"[pytest]\n", 0o444)
    customized = (IN_CONTAINER / "sitecustomize.py").read_bytes()
    bundle.add_file(f"{_PYTHON}/sitecustomize.py".strip("/"), customized, 0o444)
    return bundle.members()


def _configures_pytest(path: Path) -> bool:
    return path.is_file() and (
        path.name.endswith("pytest.ini") or "pytest" in path.read_text("utf-8", "replace")
    )


def _beginning(image: Image) -> list[str]:
    """The agent's files in their places, and nothing left of how they came there."""
    return [
        "cd /",
        f"sh {SCRIPT}",
        f"rm -rf {STAGE}",
        f"cd {quote(image.workdir)} 2>/dev/null",
    ]


def _script(package: TaskPackage, image: Image) -> list[str]:
    """Become the verifier."""
    return [
        # A volume of the image's stays, and is empty then.
        f"rm -rf /logs 2> /dev/null; mkdir -p {_LOGS}",
        "[ -e /tests ] || ln -s /verifier /tests",
        *_beginning(image),
        f"exec {script_argv(package.root / 'verifier', 'test.sh', '/verifier')}",
    ]


def _verdict(engine: Engine, container: str) -> Verdict:
    output = heard(engine, container)
    try:
        return Verdict(read_reward(_reward_files(engine, container)), VERIFIED, output)
    except InvalidReward as error:
        return Verdict(None, str(error), output)


def _reward_files(engine: Engine, container: str) -> dict[str, bytes | None]:
    try:
        chunks = engine.get(container, _LOGS)
    except UnreadableLists as error:
        raise InvalidReward(f"after the verifier {error}") from error
    if chunks is None:
        return {}
    left = _MAX_LOGS_BYTES

    def metered() -> Iterator[bytes]:
        nonlocal left
        for chunk in chunks:
            left -= len(chunk)
            if left < 0:
                raise InvalidReward(f"{_LOGS} is larger than {_MAX_LOGS_BYTES >> 20} MiB")
            yield chunk

    try:
        return small_files(metered(), (TEXT, JSON), MAX_BYTES)
    except tarfile.TarError as error:
        raise InvalidReward(f"{_LOGS} does not archive: {error}") from error
