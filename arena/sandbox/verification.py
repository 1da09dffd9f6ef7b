"""Scoring what an agent left, in a fresh container of the same image.

Only the carried paths cross over. So the agent's processes are gone, the programs it replaced do
not run, and the folder that the reward is read from is new.
"""

from __future__ import annotations

import posixpath
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from shlex import quote
from threading import Event, Timer

from arena.packages import TaskPackage
from arena.sandbox.archives import Bundle, Carrier, carried_paths, small_files
from arena.sandbox.engine import HOSTS, Engine
from arena.sandbox.errors import AgentFault, EngineError
from arena.sandbox.images import Image
from arena.sandbox.results import Limits
from arena.sandbox.reward import JSON, MAX_BYTES, TEXT, InvalidReward, read_reward
from arena.sandbox.session import Session, script_argv

MAX_OUTPUT = 8000
_OUTPUT_LINES = 200
_STAGE = ".arena-carried"
_LOGS = "/logs/verifier"
_MAX_LOGS_BYTES = 64 << 20
_KILL_SEC = 60.0

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
class Carried:
    """What goes into a verifier's container: an archive, and the paths that it replaces."""

    archive: bytes
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What one verification came to."""

    reward: float | None
    detail: str
    output: str


def collect(
    engine: Engine, session: Session, package: TaskPackage, image: Image, limits: Limits
) -> Carried:
    """The agent's files and the verifier, packed. Raises AgentFault where they do not pack."""
    bundle = Bundle()
    bundle.add_tree("verifier", package.root / "verifier")
    if session.container is None:  # no command ran: the image is what there is
        return Carried(bundle.finish(), ())
    paths = carried_paths(package.artifacts, (package.workspace, image.workdir))
    carrier = Carrier(bundle, paths, limits.artifacts_mb << 20)
    bundle.add_folder(_STAGE)
    for index, path in enumerate(paths):
        with _blaming_the_agent(True):
            chunks = engine.get(session.container, path)
        if chunks is not None:
            bundle.add_folder(f"{_STAGE}/{index}")
            carrier.carry(path, chunks, f"{_STAGE}/{index}")
    return Carried(bundle.finish(), paths)


def verify(
    engine: Engine, package: TaskPackage, image: Image, limits: Limits, carried: Carried
) -> Verdict:
    """Run the verifier once."""
    container = engine.create(
        image.id,
        ["sh", "-c", _script(package, carried.paths, image.workdir)],
        limits,
        environment={**ENVIRONMENT, "BENCHFLOW_WORKSPACE": package.workspace},
    )
    try:
        with _blaming_the_agent(bool(carried.paths)):
            engine.put(container, carried.archive)
        if not _runs_out(engine, container, limits.verifier_sec):
            return _verdict(engine, container)
        output = _output(engine, container)
        return Verdict(None, f"the verifier took longer than {limits.verifier_sec:g} s", output)
    finally:
        engine.remove_later(container)


@contextmanager
def _blaming_the_agent(its_files: bool) -> Iterator[None]:
    """An engine that refuses to copy an agent's files answers, and would refuse them again.

    Taken for the platform's trouble, a name too long would be a way to a missing result.
    """
    try:
        yield
    except EngineError as error:
        if not its_files or error.status is None or "no space left" in str(error):
            raise
        raise AgentFault(f"the artifacts cannot be copied: {error}") from error


def _script(package: TaskPackage, paths: Sequence[str], workdir: str) -> str:
    """Put the carried paths in place of the image's own, then become the verifier.

    A path that cannot be removed is a volume: its content is replaced.
    """
    lines = [HOSTS, "cd /", f"rm -rf /logs && mkdir -p {_LOGS}"]
    for index, path in enumerate(paths):
        staged, place = quote(f"/{_STAGE}/{index}/{posixpath.basename(path)}"), quote(path)
        parent = quote(posixpath.dirname(path))
        lines += [
            f"rm -rf {place} 2>/dev/null",
            f"if [ -d {place} ]; then cp -a {staged}/. {place}/",
            f"elif [ -e {staged} ] || [ -L {staged} ]; then",
            f"mkdir -p {parent} && mv {staged} {place}; fi",
        ]
    if paths:
        lines.append(f"rm -rf /{_STAGE}")
    lines += [
        "[ -e /tests ] || ln -s /verifier /tests",
        f"cd {quote(workdir)} 2>/dev/null",
        f"exec {script_argv(package.root / 'verifier', 'test.sh', '/verifier')}",
    ]
    return "\n".join(lines)


def _runs_out(engine: Engine, container: str, seconds: float) -> bool:
    """Run a container to its end; True where the watchdog ended it."""
    hit = Event()

    def strike() -> None:
        hit.set()
        engine.kill(container)

    watchdog = Timer(seconds, strike)
    watchdog.daemon = True
    engine.start(container)
    watchdog.start()
    try:
        engine.wait(container, seconds + _KILL_SEC)
    finally:
        watchdog.cancel()
    return hit.is_set()


def _verdict(engine: Engine, container: str) -> Verdict:
    output = _output(engine, container)
    try:
        return Verdict(read_reward(_reward_files(engine, container)), "verified", output)
    except InvalidReward as error:
        return Verdict(None, str(error), output)


def _reward_files(engine: Engine, container: str) -> dict[str, bytes | None]:
    chunks = engine.get(container, _LOGS)
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


def _output(engine: Engine, container: str) -> str:
    return engine.output(container, _OUTPUT_LINES).decode("utf-8", "replace")[-MAX_OUTPUT:]
