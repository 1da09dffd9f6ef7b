"""`make run` says in one line why it does not start."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from arena.processes import StartError
from local.stack import Options, Stack


def test_a_taken_port_is_named_and_others_are_offered(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=f"Port {port} is taken") as refused:
            Stack(Options(directory=tmp_path, port=port)).start()
    offered = re.findall(r"PORT=(\d+)", str(refused.value))
    assert len(offered) == 2
    assert str(port) not in offered


def test_app_and_hub_need_ports_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="different ports"):
        Stack(Options(directory=tmp_path, port=7860, hub_port=7860)).start()


def test_the_limit_on_the_disk_reaches_the_worker_and_other_arenas_settings_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_IMAGE_CACHE_GB", "3")
    monkeypatch.setenv("ARENA_RESULTS_REPO", "somebody/elses")
    env = Stack(Options(directory=tmp_path)).env("worker")
    assert env["ARENA_IMAGE_CACHE_GB"] == "3"
    assert "ARENA_RESULTS_REPO" not in env
