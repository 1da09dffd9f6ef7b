"""Replaying as a user who is not root and may reach the engine's socket, as in the docker group."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.collections import write_package
from tests.needs import cannot
from tests.sandbox.proxy import Proxy

pytestmark = pytest.mark.docker

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
# It may read everything, since the checkout and its Python may be in root's home; and write nothing.
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
AS_NOBODY += ["--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search", "--"]


class User(NamedTuple):
    """One without rights: a home, a package of theirs, and a socket they may connect to."""

    home: Path
    package: Path
    engine: str

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*AS_NOBODY, *command],
            cwd=self.home,
            env={
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "PYTHONPATH": str(ROOT),
                "HOME": str(self.home),
                "XDG_CACHE_HOME": str(self.home / "cache"),
                "DOCKER_HOST": self.engine,
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


@pytest.fixture
def user(docker_engine: str) -> Iterator[User]:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        cannot("running something as another user needs root and setpriv")
    home = Path(tempfile.mkdtemp())
    package = write_package(home / "write-apple")
    for path in (home, *home.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    with Proxy(docker_engine) as proxy:
        proxy.open_to_all()
        yield User(home, package, proxy.url)
    shutil.rmtree(home)


def test_arena_replay(user: User) -> None:
    ended = user.run(sys.executable, "-m", "arena", "replay", str(user.package), "--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    [row] = json.loads(ended.stdout)["packages"]
    assert (row["verdict"], row["known"]) == ("proven", False)
    again = user.run(sys.executable, "-m", "arena", "replay", str(user.package), "--json")
    assert json.loads(again.stdout)["packages"][0]["known"]


def test_run_local(user: User) -> None:
    ended = user.run("bash", str(ROOT / "scripts" / "run_local.sh"), str(user.package))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.splitlines()[1].endswith("proven")
