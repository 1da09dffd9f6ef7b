"""Processes that live and die with this one."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx


class StartError(Exception):
    """A process did not come up; the message says why, with the end of its log."""


@dataclass
class Process:
    """A child with its log. It dies with its parent, also by kill -9 (on Linux)."""

    name: str
    log: Path
    popen: subprocess.Popen[bytes]

    @classmethod
    def start(
        cls, name: str, command: Sequence[str], env: Mapping[str, str], logs: Path
    ) -> Process:
        """Starts `command`, whose output goes to a log named for it below `logs`."""
        logs.mkdir(parents=True, exist_ok=True)
        log = logs / f"{name}.log"
        with log.open("ab") as file:
            popen = subprocess.Popen(
                command,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,  # Ctrl-C is for the parent, which ends the rest in order
                preexec_fn=_die_with_parent,
            )
        return cls(name, log, popen)

    @property
    def running(self) -> bool:
        return self.popen.poll() is None

    def stop(self, seconds: float = 20) -> None:
        """Asks it to end; makes it where it does not."""
        self.popen.terminate()
        try:
            self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()

    def wait_until_answers(self, url: str, seconds: float = 60) -> None:
        """Waits for a 200 at `url`.

        Raises:
            StartError: the process ended, or did not answer in time.
        """

        def answers() -> bool:
            try:
                return httpx.get(url, timeout=2).status_code == 200
            except httpx.HTTPError:
                return False

        if not _wait_for(lambda: answers() or not self.running, seconds) or not self.running:
            raise StartError(f"{self.name} did not start:\n{self.log_tail()}")

    def log_tail(self, lines: int = 12) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def _wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False


def _die_with_parent() -> None:
    """Asks Linux to end this process when its parent ends, however that ended."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)
