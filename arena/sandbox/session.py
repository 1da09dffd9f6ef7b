"""The agent's side of a trial: commands in its container, within its time."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from arena.packages import TaskPackage
from arena.sandbox.archives import Bundle
from arena.sandbox.engine import HOSTS, Engine
from arena.sandbox.errors import (
    EngineError,
    EngineUnavailable,
    SessionOver,
    is_the_containers,
    of_the_image,
)
from arena.sandbox.frames import Reader
from arena.sandbox.images import Image
from arena.sandbox.results import Limits, Step
from arena.sandbox.watching import DISK_SEC, MAX_OUTPUT, heard, watched

# How often a running command is looked at: has it ended and left a process holding its output?
_GLANCE_SEC = 0.5
_FIRST_PAUSE_SEC = 0.01
_REST_SEC = 0.2


class Session:
    """What an agent acts through. The container starts with the first command."""

    def __init__(self, engine: Engine, package: TaskPackage, image: Image, limits: Limits) -> None:
        self.package = package
        self.steps: list[Step] = []
        self.seconds_left = limits.agent_sec
        self.over: str | None = None
        self._engine = engine
        self._image = image
        self._limits = limits
        self._brought: list[bytes] = []
        self._container: str | None = None
        self._started = False
        self._disk_check = time.monotonic() + DISK_SEC

    @property
    def container(self) -> str | None:
        """The agent's container; None where no command ran."""
        return self._container

    def run(self, command: str) -> Step:
        """Run a command with `sh -c`. Only time spent in commands counts against the agent's.

        A command that meets a limit ends the session: its step has no exit code, and another
        command raises SessionOver.
        """
        if self.over is not None:
            raise SessionOver(self.over)
        container = self._running()
        began = time.monotonic()
        try:
            step = self._execute(container, command)
        except EngineError as error:
            if not is_the_containers(error):
                raise
            self.over = f"no command runs in the container: {error}"
            step = Step(command, None, str(error)[:MAX_OUTPUT])
        self.seconds_left -= time.monotonic() - began
        self.steps.append(step)
        return step

    def run_only(self, command: str) -> Step:
        """Run an agent's one command as the container's own process, which ends with it.

        Nothing has to be started in the container for it, nor killed after it: a sixth of a short
        trial. Beside services, or as another user than root, it runs as any other command does.
        """
        of_root = all(name in ("0", "root") for name in self._user.split(":"))
        if self._container or self.package.services or not of_root:
            return self.run(command)
        container = self._create([HOSTS, command])
        with of_the_image():
            self._engine.start(container)
        ended = watched(self._engine, container, self.seconds_left, self._limits.storage_mb)
        if isinstance(ended, str):
            self.over = f"the agent {ended}"
        code = ended if isinstance(ended, int) else None
        step = Step(command, code, heard(self._engine, container))
        self.steps.append(step)
        return step

    def bring_folder(self, folder: Path, destination: str, also: str) -> None:
        """Have a folder of this machine in the container; `also`: another name of it there."""
        bundle = Bundle()
        bundle.add_tree(destination.strip("/"), folder)
        bundle.add_link(also.strip("/"), destination)
        self._brought.append(bundle.finish())

    def end(self) -> None:
        """Kill every process of the agent; its files stay readable."""
        if self._container is not None and self._started:
            self._engine.kill(self._container)

    def discard(self) -> None:
        if self._container is not None:
            self._engine.remove_later(self._container)
            self._container = None

    @property
    def _user(self) -> str:
        return self.package.agent_user or self._image.user or "0"

    def _running(self) -> str:
        # Longer than the agent can last; the container is killed from outside anyway.
        seconds = math.ceil(self._limits.agent_sec) + 86_400
        script = [HOSTS, background(self.package.services), f"exec sleep {seconds}"]
        container = self._container or self._create(script)
        if not self._started:
            with of_the_image():
                self._engine.start(container)
            self._started = True
        return container

    def _create(self, script: Sequence[str]) -> str:
        argv = ["sh", "-c", "\n".join(script)]
        with of_the_image():
            self._container = self._engine.create(self._image.id, argv, self._limits)
            for archive in self._brought:
                self._engine.put(self._container, archive)
        return self._container

    def _execute(self, container: str, command: str) -> Step:
        execution = self._engine.exec_create(container, ["sh", "-c", command], self._user)
        reader = Reader(self._engine, execution, MAX_OUTPUT)
        deadline = time.monotonic() + self.seconds_left
        pause = _FIRST_PAUSE_SEC
        while True:
            ended = reader.wait(min(_GLANCE_SEC, deadline - time.monotonic()))
            code = self._engine.exec_exit_code(execution)
            if time.monotonic() >= self._disk_check:
                if self._filled_its_disk(container):
                    return self._stop(command, reader, "the agent filled its disk")
                self._disk_check = time.monotonic() + DISK_SEC
            if code is not None:
                # What still holds the output is a process that the command left behind.
                reader.wait(_REST_SEC)
                return Step(command, code, reader.text())
            if time.monotonic() >= deadline:
                limit = f"{self._limits.agent_sec:g} s"
                return self._stop(command, reader, f"the agent took longer than {limit}")
            if ended:
                # A moment before the engine notices the exit, or a command that closed its output.
                time.sleep(pause)
                pause = min(2 * pause, _GLANCE_SEC)

    def _filled_its_disk(self, container: str) -> bool:
        try:
            return self._engine.written_bytes(container) > self._limits.storage_mb << 20
        except EngineUnavailable:
            # More files than can be counted in time. Were the engine gone, the kill would say so.
            return True

    def _stop(self, command: str, reader: Reader, why: str) -> Step:
        self.over = why
        self.end()
        return Step(command, None, reader.text())


def background(services: Sequence[str]) -> str:
    """The shell's lines that start a package's services; what they say is the container's log."""
    return "\n".join(f"sh -c {quote(service)} < /dev/null &" for service in services)


def script_argv(folder: Path, name: str, place: str) -> str:
    """How a shell starts a package's script at `place`: by its first line, else with sh."""
    with (folder / name).open("rb") as file:
        has_shebang = file.read(2) == b"#!"
    script = quote(f"{place}/{name}")
    return script if has_shebang else f"sh {script}"
