"""What ends in the middle: another worker goes on after a killed one, Ctrl-C loses nothing."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker
import pytest
from huggingface_hub import HfApi

from arena.client import ArenaClient
from arena.processes import Process
from local.demo.families import FAMILIES
from local.demo.tasks import write_collection
from local.stack import ROOT, Stack
from tests.collections import upload, write_package
from tests.e2e.conftest import CHALLENGE, free_ports

pytestmark = pytest.mark.docker

REPO = "author/interrupted"
OVER = {"scored", "failed", "cancelled", "accepted", "rejected"}


def wait_for(read: Callable[[], Any], seconds: float = 240, pause: float = 0.3) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := read()):
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(pause)
    return found


def part(stack: Stack, name: str) -> Process:
    return next(process for process in stack.processes if process.name == name)


def kill(stack: Stack, name: str) -> None:
    """Ends a part of the stack as no program can foresee."""
    doomed = part(stack, name)
    doomed.popen.kill()
    doomed.popen.wait()
    stack.processes.remove(doomed)


def _author(stack: Stack) -> HfApi:
    return HfApi(endpoint=stack.options.hub_url, token="hf_author")


def _work_folders(stack: Stack) -> set[str]:
    """The folders of workers, one a process."""
    work = stack.options.directory / "worker" / "work"
    return {path.name for path in work.glob("*") if any(path.iterdir())}


def _trials(stack: Stack) -> set[str]:
    """The ids of the containers of trials."""
    client = docker.DockerClient(base_url=stack.engine.url)
    try:
        found = client.containers.list(
            all=True, filters={"label": "org.posttrain-arena=trial"}, ignore_removed=True
        )
        return {str(container.id) for container in found}
    finally:
        client.close()


def valid_submission(arena: ArenaClient, source: str) -> str:
    """Enters a collection; gives its id once it is valid."""
    body = {"source": source, "title": "Interrupted"}
    entered = arena.post("/submissions", body)["submission"]["id"]
    path = f"/submissions/{entered}"
    wait_for(lambda: arena.get(path)["submission"]["state"] == "valid")
    return str(entered)


def _checkpoints(stack: Stack) -> set[str]:
    """The runs of which whole stages are kept."""
    return {path.name for path in (stack.options.directory / "worker" / "checkpoints").glob("*")}


def test_another_worker_takes_a_run_up_where_one_was_killed_with_the_arena(
    stack: Stack, tmp_path: Path
) -> None:
    arena = ArenaClient(stack.options.url, "hf_author")
    write_collection(tmp_path, 2, FAMILIES[1:3])
    upload(_author(stack), REPO, tmp_path)
    submission = valid_submission(arena, f"hf:{REPO}@main")
    launch = {"submission": submission, "challenge": CHALLENGE}
    run = arena.post("/runs:launch", launch)["run"]["id"]
    read = lambda: arena.get(f"/runs/{run}")["run"]  # noqa: E731
    wait_for(lambda: read()["stages"][2]["status"] == "done")
    kill(stack, "app")
    kill(stack, "worker")
    stack.start_app()
    requeued = wait_for(lambda: (r := read())["requeued"] and r)
    assert (requeued["state"], requeued["requeued"]["code"]) == ("queued", "worker_lost")
    assert _checkpoints(stack) == {run}
    stack.start_worker()
    ended = wait_for(lambda: (r := read())["state"] in OVER and r)
    assert ended["state"] == "scored", ended["failure"]
    assert "gate" in ended["resumed"]
    assert {stage["status"] for stage in ended["stages"]} == {"done"}
    wait_for(lambda: not _checkpoints(stack))


@pytest.mark.slow
def test_an_arena_killed_in_stage_after_stage_gets_its_report(stack: Stack, tmp_path: Path) -> None:
    """The worker is held while the arena is away, so that it is killed in stages of all kinds."""
    arena = ArenaClient(stack.options.url, "hf_author")
    write_collection(tmp_path, 2, FAMILIES[3::-3])  # no other test's content
    upload(_author(stack), "author/arena-killed", tmp_path)
    submission = valid_submission(arena, "hf:author/arena-killed@main")
    launch = {"submission": submission, "challenge": CHALLENGE}
    run = arena.post("/runs:launch", launch)["run"]["id"]
    read = lambda: arena.get(f"/runs/{run}")["run"]  # noqa: E731
    worker, killed_in = part(stack, "worker").popen, set[str]()
    while (now := read())["state"] not in OVER:
        under_way = {s["stage"] for s in now["stages"] if s["status"] == "running"}
        if under_way - killed_in:
            killed_in |= under_way
            worker.send_signal(signal.SIGSTOP)
            kill(stack, "app")
            stack.start_app()
            worker.send_signal(signal.SIGCONT)
        time.sleep(0.05)
    assert now["state"] == "scored", now["failure"]
    assert (now["requeued"], now["resumed"]) == (None, [])
    assert killed_in & {"baseline", "final"}
    assert killed_in & {"gate", "sft", "grpo"}


@pytest.mark.slow
def test_a_worker_killed_in_a_replay_leaves_nothing_and_another_ends_it(
    stack: Stack, tmp_path: Path
) -> None:
    arena = ArenaClient(stack.options.url, "hf_author")
    slow = {"oracle/solve.sh": "#!/bin/sh\nsleep 4\necho apple > /root/answer.txt\n"}
    for number in range(6):
        note = {"environment/seed.txt": f"seed {number}\n"}
        write_package(tmp_path / f"slow-{number}", slow | note)
    source = f"hf:author/slow@{upload(_author(stack), 'author/slow', tmp_path)}"
    path = f"/submissions/{valid_submission(arena, source)}"
    replay = lambda: arena.get(path)["submission"]["replay"]  # noqa: E731
    wait_for(lambda: replay()["state"] == "running" and _trials(stack))
    kill(stack, "worker")
    assert replay()["state"] != "done"
    folders, trials = _work_folders(stack), _trials(stack)
    assert folders
    assert trials
    stack.start_worker()
    wait_for(lambda: not folders & _work_folders(stack) and not trials & _trials(stack))
    done = wait_for(lambda: (r := replay())["state"] == "done" and r)
    assert (done["proven"], done["total"]) == (6, 6)


@pytest.mark.slow
def test_a_worker_killed_in_a_runs_fetch_leaves_nothing(stack: Stack, tmp_path: Path) -> None:
    arena = ArenaClient(stack.options.url, "hf_author")
    for number in range(2):
        data = {f"environment/data/{n}.txt": f"{number} {n}\n" for n in range(300)}
        write_package(tmp_path / f"many-{number}", dict[str, str | None](data))
    source = f"hf:author/many@{upload(_author(stack), 'author/many', tmp_path)}"
    submission = valid_submission(arena, source)
    launch = {"submission": submission, "challenge": CHALLENGE}
    run = arena.post("/runs:launch", launch)["run"]["id"]
    work = stack.options.directory / "worker" / "work"
    wait_for(lambda: next(work.glob("*/run-*/collection/**/*.txt"), None), pause=0.002)
    kill(stack, "worker")
    stages = arena.get(f"/runs/{run}")["run"]["stages"]
    assert [s["stage"] for s in stages if s["status"] == "done"] == ["setup"]
    folders = _work_folders(stack)
    assert folders
    stack.start_worker()
    wait_for(lambda: not folders & _work_folders(stack))
    ended = wait_for(lambda: (r := arena.get(f"/runs/{run}")["run"])["state"] in OVER and r)
    assert ended["state"] == "scored", ended["failure"]
    assert ended["requeued"]["code"] == "worker_lost"
    assert ended["resumed"] == []


@pytest.mark.slow
def test_ctrl_c_ends_everything_and_what_was_entered_stays(
    docker_engine: str, base_model_dir: Path, tmp_path: Path
) -> None:
    port, hub_port = free_ports()
    command = [sys.executable, "-m", "local.stack", "--dir", str(tmp_path)]
    command += ["--port", str(port), "--hub-port", str(hub_port)]
    arena = ArenaClient(f"http://127.0.0.1:{port}", "hf_author")

    def start() -> subprocess.Popen[str]:
        running = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "DOCKER_HOST": docker_engine},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert running.stdout is not None
        for line in running.stdout:
            if "Ctrl-C ends everything" in line:
                return running
        raise AssertionError("it ended before it was up")

    def stop(running: subprocess.Popen[str], how: signal.Signals) -> int:
        running.send_signal(how)
        return running.wait(60)

    first = start()
    entered = valid_submission(arena, "hf:author/example-collection@main")
    assert stop(first, signal.SIGINT) == 0
    second = start()
    assert arena.get(f"/submissions/{entered}")["submission"]["state"] == "valid"
    assert stop(second, signal.SIGKILL) == -signal.SIGKILL
    wait_for(lambda: not _listens(port) and not _listens(hub_port), seconds=30)
    third = start()  # the parts died with their parent, so the ports are free again
    assert arena.get(f"/submissions/{entered}")["submission"]["state"] == "valid"
    assert stop(third, signal.SIGTERM) == 0


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
