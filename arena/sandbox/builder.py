"""Building with BuildKit, which speaks to the docker command alone and not to the SDK.

A build is a process group. A watcher in it holds the read end of a pipe and ends the group when the
pipe closes: when this process says so, and when this process is gone, however it ended. The engine
ends a build whose client is gone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from tempfile import TemporaryFile
from threading import Lock, Timer
from typing import NamedTuple

from arena.sandbox.errors import EngineUnavailable, NoDockerCommand

MAX_LOG_BYTES = 1 << 16
_ASK_SECONDS = 60
_FIRST_WITH_BUILDX = 23  # until then the command itself speaks BuildKit
# The pipe comes in as stderr, the one place whose number is known and that nothing else needs.
_WATCHED = 'exec 3<&2 2>&1; { read -r _ <&3; kill -KILL 0; } > /dev/null 2>&1 & exec "$@" 3<&-'


class Built(NamedTuple):
    """How a build ended: its exit code, None where its time was up; and the end of its log."""

    exit_code: int | None
    log: str


class Builder:
    """Builds images on one engine, for several threads."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._command = docker_command()
        self._running: set[_Build] = set()
        self._lock = Lock()
        self._abandoned = False

    def build(self, context: bytes, options: Sequence[str], seconds: float) -> Built:
        """Run `docker build` with a tar archive as its context."""
        argv = [self._command, "build", "--progress=plain", *options, "-"]
        with self._lock:
            if self._abandoned:
                raise EngineUnavailable(self._url, "the sandbox is closing")
            build = _Build(argv, context, docker_environment(self._url, os.environ))
            self._running.add(build)
        try:
            return build.follow(seconds)
        finally:
            build.close()
            with self._lock:
                self._running.discard(build)

    def abandon(self) -> None:
        """End the builds that run, and begin no other."""
        with self._lock:
            self._abandoned = True
            for build in self._running:
                build.end()


class _Build:
    """One `docker build`, which ends with the pipe."""

    def __init__(self, argv: Sequence[str], context: bytes, env: Mapping[str, str]) -> None:
        watched, ours = os.pipe()
        self._pipe = os.fdopen(ours, "wb")
        try:
            with TemporaryFile() as file:
                file.write(context)
                file.seek(0)
                self._process = subprocess.Popen(
                    ["sh", "-c", _WATCHED, "sh", *argv],
                    stdin=file,
                    stdout=subprocess.PIPE,
                    stderr=watched,
                    env=env,
                    start_new_session=True,
                )
        finally:
            os.close(watched)
        self._out_of_time = False

    def follow(self, seconds: float) -> Built:
        """Wait for the build's end, or bring it about when its time is up."""
        watchdog = Timer(seconds, self._strike)
        watchdog.daemon = True
        watchdog.start()
        try:
            log = self._read()
            code = self._process.wait()
        finally:
            watchdog.cancel()
        return Built(None if self._out_of_time and code != 0 else code, log)

    def end(self) -> None:
        """Have the watcher end the build."""
        self._pipe.close()

    def close(self) -> None:
        """End the build, and leave no process of it."""
        self.end()
        with self._process:  # waits for it
            pass

    def _strike(self) -> None:
        self._out_of_time = True
        self.end()

    def _read(self) -> str:
        """The end of what the build writes."""
        assert self._process.stdout is not None
        log = b""
        for chunk in iter(partial(os.read, self._process.stdout.fileno(), MAX_LOG_BYTES), b""):
            log = (log + chunk)[-MAX_LOG_BYTES:]
        return log.decode("utf-8", "replace")


def docker_command() -> str:
    """The first docker command on the PATH that can use BuildKit.

    Raises NoDockerCommand where there is none.
    """
    return _command_on(os.environ.get("PATH", os.defpath))


def docker_environment(url: str, env: Mapping[str, str]) -> dict[str, str]:
    """The environment of the docker command: the user's own, and this engine's address.

    The user's configuration has the registries' credentials; the command answers the engine with
    them, and no build sees them. Another engine or builder that it names is not meant here, and a
    time for all files would be another image.
    """
    dropped = {"DOCKER_CONTEXT", "BUILDX_BUILDER", "SOURCE_DATE_EPOCH"}
    if not url.startswith("tcp://"):
        dropped |= {"DOCKER_TLS", "DOCKER_TLS_VERIFY"}
    kept = {name: value for name, value in env.items() if name not in dropped}
    # Attestations would make two images of one, with other ids at each build.
    ours = {"DOCKER_BUILDKIT": "1", "BUILDX_NO_DEFAULT_ATTESTATIONS": "1", "DOCKER_HOST": url}
    return kept | ours


@lru_cache
def _command_on(path: str) -> str:
    folders = path.split(os.pathsep)
    found = [name for folder in folders if (name := shutil.which("docker", path=folder))]
    for name in found:
        if _uses_buildkit(name):
            return name
    raise NoDockerCommand(f"{found[0]} lacks its buildx plugin" if found else "it is not installed")


def _uses_buildkit(docker: str) -> bool:
    version = re.match(r"Docker version (\d+)\.", _answer(docker, "--version") or "")
    if version is None:
        return False
    return int(version[1]) < _FIRST_WITH_BUILDX or _answer(docker, "buildx", "version") is not None


def _answer(*command: str) -> str | None:
    """What a command prints; None where it fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_ASK_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
