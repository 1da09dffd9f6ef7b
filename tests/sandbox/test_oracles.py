"""An oracle, alone in its container or beside services: the same comes out of both."""

from __future__ import annotations

from pathlib import Path

import pytest
from docker import APIClient

from arena.packages import TaskPackage
from arena.sandbox import Sandbox, Session, oracle
from tests.sandbox.packages import write_package

pytestmark = pytest.mark.docker

SOLVE = "echo amber > /root/answer.txt\n"
WAYS = {"alone": [], "beside services": ["sleep 1000"]}


@pytest.fixture(params=WAYS.values(), ids=WAYS.keys())
def services(request: pytest.FixtureRequest) -> list[str]:
    return list(request.param)


def with_oracle(
    folder: Path, solve: str, services: list[str], agent_sec: float = 60
) -> TaskPackage:
    return write_package(folder / "word", solve=solve, services=services, agent_sec=agent_sec)


def test_its_step_tells_what_it_did(sandbox: Sandbox, tmp_path: Path, services: list[str]) -> None:
    solve = f"{SOLVE}echo out; echo err >&2; pwd; id -u; ls /verifier; exit 3\n"
    result = sandbox.trial(with_oracle(tmp_path, solve, services), oracle())
    assert (result.reward, result.detail) == (1.0, "verified")
    (step,) = result.steps
    assert step.exit_code == 3
    said = sorted(step.output.splitlines())
    assert said == ["/root", "0", "err", "ls: /verifier: No such file or directory", "out"]


def test_its_time_is_limited(sandbox: Sandbox, tmp_path: Path, services: list[str]) -> None:
    package = with_oracle(tmp_path, f"{SOLVE}sleep 100\n", services, agent_sec=1)
    result = sandbox.trial(package, oracle())
    assert (result.reward, result.fault) == (1.0, None)
    assert result.detail == "the agent took longer than 1 s; verified"
    assert result.steps[0].exit_code is None


def test_its_disk_is_limited(sandbox: Sandbox, tmp_path: Path, services: list[str]) -> None:
    fill = "i=0; while true; do i=$((i + 1)); head -c 4m /dev/zero > /tmp/$i; sleep 0.1; done\n"
    result = sandbox.trial(with_oracle(tmp_path, f"{SOLVE}{fill}", services), oracle())
    assert result.detail == "the agent filled its disk; verified"
    assert result.steps[0].exit_code is None


def test_no_process_of_it_is_left_when_its_files_are_read(
    sandbox: Sandbox, client: APIClient, tmp_path: Path, services: list[str]
) -> None:
    """What it leaves running would take its answer away in the end."""
    solve = f"{SOLVE}(sleep 2; rm /root/answer.txt; sleep 1000) &\n"
    package = with_oracle(tmp_path, solve, services)
    running = []

    def agent(session: Session) -> None:
        oracle()(session)
        session.end()
        names = [one["Id"] for one in client.containers()]
        running.append(session.container in names)

    result = sandbox.trial(package, agent)
    assert (result.reward, running) == (1.0, [False])


def test_it_may_say_a_lot(sandbox: Sandbox, tmp_path: Path, services: list[str]) -> None:
    result = sandbox.trial(with_oracle(tmp_path, f"{SOLVE}yes | head -c 20m\n", services), oracle())
    assert result.reward == 1.0
    assert len(result.steps[0].output) <= 8000


def test_it_has_no_input(sandbox: Sandbox, tmp_path: Path, services: list[str]) -> None:
    result = sandbox.trial(with_oracle(tmp_path, f"cat\n{SOLVE}", services, agent_sec=10), oracle())
    assert (result.reward, result.detail) == (1.0, "verified")
