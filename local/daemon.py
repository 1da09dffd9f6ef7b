"""One dockerd of our own under a folder: start it, find it again, stop it.

It has no bridge and touches no firewall, so it runs inside containers and small VMs, and it can
pull nothing: its base images are made by `local.baseimages`.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker import APIClient
from docker.errors import DockerException
from requests.exceptions import RequestException

START_SECONDS = 60.0
STOP_SECONDS = 20.0

# The longest socket below the runtime folder is containerd's; a unix address holds 107 bytes.
_LONGEST_SOCKET = "/exec/containerd/containerd-debug.sock.ttrpc"
_ADDRESS_BYTES = 107
_FLAGS = ["--iptables=false", "--ip-forward=false", "--bridge=none"]
# Without a limit, BuildKit keeps the layers of every image that was ever built.
_BUILD_CACHE = "10GB"


class DaemonError(Exception):
    """dockerd did not come up; the message says why, with the tail of its log."""


@dataclass(frozen=True)
class Paths:
    """Where one private engine keeps what it keeps."""

    directory: Path
    runtime: Path

    @classmethod
    def under(cls, directory: Path) -> Paths:
        directory = directory.absolute()
        if len(os.fsencode(directory)) + len(_LONGEST_SOCKET) <= _ADDRESS_BYTES:
            return cls(directory, directory)
        key = hashlib.sha256(os.fsencode(directory)).hexdigest()[:12]
        return cls(directory, Path(tempfile.gettempdir()) / f"posttrain-arena-{key}")

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def log(self) -> Path:
        return self.directory / "dockerd.log"

    @property
    def config(self) -> Path:
        return self.directory / "daemon.json"

    @property
    def lock(self) -> Path:
        return self.directory / "lock"

    @property
    def exec_root(self) -> Path:
        return self.runtime / "exec"

    @property
    def containerd_pidfile(self) -> Path:
        return self.exec_root / "containerd" / "containerd.pid"

    @property
    def containerd_config(self) -> Path:
        return self.exec_root / "containerd" / "containerd.toml"

    @property
    def pidfile(self) -> Path:
        return self.runtime / "docker.pid"

    @property
    def socket(self) -> Path:
        return self.runtime / "docker.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"


@contextmanager
def locked(paths: Paths) -> Iterator[None]:
    """One start or stop at a time, over all processes of this machine."""
    paths.directory.mkdir(parents=True, exist_ok=True)
    with paths.lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def answers(url: str, timeout: int = 5) -> bool:
    """Whether a Docker engine answers at `url`."""
    try:
        client = APIClient(base_url=url, timeout=timeout)
    except (DockerException, OSError):
        return False
    try:
        return bool(client.ping())
    except (DockerException, RequestException, OSError):
        return False
    finally:
        client.close()


def running_pid(paths: Paths) -> int | None:
    """The process id of our dockerd; None where the pidfile is missing or a leftover.

    A zombie has no command line, so a dockerd that ended is a leftover too.
    """
    return _process(paths.pidfile, paths.pidfile)


def start(paths: Paths) -> None:
    """Start dockerd and wait until it answers. Call it under `locked`."""
    if running_pid(paths) is None:
        _clear_leftovers(paths)
        process = _launch(paths)
    else:
        process = None  # somebody started it a moment ago, or it is slow to come up
    deadline = time.monotonic() + START_SECONDS
    while not answers(paths.url):
        if process is not None and process.poll() is not None:
            raise DaemonError(f"dockerd ended with {process.returncode}: {log_tail(paths)}")
        if time.monotonic() > deadline:
            stop(paths)
            raise DaemonError(f"dockerd did not answer in {START_SECONDS:.0f} s: {log_tail(paths)}")
        time.sleep(0.1)


def stop(paths: Paths) -> bool:
    """Stop our dockerd and its containers; False where none runs. Call it under `locked`."""
    pid = running_pid(paths)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        if not _gone(paths, STOP_SECONDS):
            os.kill(pid, signal.SIGKILL)
            _gone(paths, STOP_SECONDS)
    _clear_leftovers(paths)
    if paths.runtime != paths.directory:
        shutil.rmtree(paths.runtime, ignore_errors=True)
    return pid is not None


def log_tail(paths: Paths, lines: int = 8) -> str:
    """The last lines that dockerd wrote, without the chatter of its connections."""
    with suppress(OSError):
        said = paths.log.read_text(errors="replace").splitlines()
        return "\n".join([line for line in said if "module=grpc" not in line][-lines:])
    return "(no log)"


def _launch(paths: Paths) -> subprocess.Popen[bytes]:
    paths.runtime.mkdir(mode=0o700, parents=True, exist_ok=True)
    if paths.runtime.stat().st_uid != os.geteuid():
        raise DaemonError(f"{paths.runtime} belongs to somebody else")
    command = ["dockerd", "--data-root", str(paths.data), "--exec-root", str(paths.exec_root)]
    command += ["--pidfile", str(paths.pidfile), "-H", paths.url]
    paths.config.write_text(json.dumps(_config()))
    command += ["--config-file", str(paths.config)]  # not the machine's own
    command += _FLAGS
    with paths.log.open("wb") as log:
        # A session of its own: Ctrl-C at the terminal is for whoever started it, not for it.
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd="/",
            start_new_session=True,
        )


def _config() -> dict[str, Any]:
    return {"builder": {"gc": {"enabled": True, "defaultKeepStorage": _BUILD_CACHE}}}


def _clear_leftovers(paths: Paths) -> None:
    """What a killed dockerd leaves, and what keeps a new one down.

    A process id in a file may be somebody else's by now. containerd's is the worse one: where it is
    a zombie that nobody reaps, dockerd waits for it to answer.
    """
    orphan = _process(paths.containerd_pidfile, paths.containerd_config)
    if orphan is not None:
        os.kill(orphan, signal.SIGKILL)
    for leftover in (paths.pidfile, paths.socket, paths.containerd_pidfile):
        leftover.unlink(missing_ok=True)
    _unmount_below(paths.data, paths.exec_root)


def _unmount_below(*folders: Path) -> None:
    """A killed dockerd also leaves its mounts, and a folder with one cannot be deleted."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    places = [Path(line.split()[4].replace("\\040", " ")) for line in mounts]
    for place in reversed(places):  # the newest, and so the innermost, first
        if any(place.is_relative_to(folder.resolve()) for folder in folders):
            subprocess.run(["umount", "--lazy", str(place)], check=False)


def _process(pidfile: Path, argument: Path) -> int | None:
    """The process that `pidfile` names, if it was started with `argument`."""
    with suppress(OSError, ValueError):
        pid = int(pidfile.read_text())
        if os.fsencode(argument) in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
            return pid
    return None


def _gone(paths: Paths, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while running_pid(paths) is not None:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
