"""A verifier that starts while the agent acts: nothing is in it, and nothing hangs on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from docker import APIClient
from docker.errors import NotFound

from arena.packages import TaskPackage
from arena.sandbox import Sandbox, Session, untouched
from tests.sandbox.packages import write_package
from tests.sandbox.waiting import eventually, waiting_verifiers

pytestmark = pytest.mark.docker


@pytest.fixture
def package(tmp_path: Path) -> TaskPackage:
    return write_package(tmp_path / "word")


def test_nothing_of_the_package_is_in_it_while_the_agent_acts(
    sandbox: Sandbox, client: APIClient, package: TaskPackage
) -> None:
    looked = []

    def agent(session: Session) -> None:
        session.run("echo amber > answer.txt; mkdir /logs; sleep 1000 &")
        assert eventually(lambda: bool(waiting_verifiers(client)))
        (found,) = waiting_verifiers(client)
        for place in ("/verifier", "/tests", "/oracle", "/logs", "/root/answer.txt"):
            with pytest.raises(NotFound):
                client.get_archive(found["Id"], place)
        processes = [line[-1] for line in client.top(found["Id"])["Processes"]]
        looked.append(processes)
        assert not any("sleep" in line for line in processes)

    assert sandbox.trial(package, agent).reward == 1.0
    assert looked


def test_one_that_is_lost_while_the_agent_acts_is_made_again(
    sandbox: Sandbox, client: APIClient, package: TaskPackage
) -> None:
    for lose in (
        lambda container: client.kill(container),
        lambda container: client.remove_container(container, force=True),
    ):

        def agent(session: Session, lose: Any = lose) -> None:
            session.run("echo amber > answer.txt")
            assert eventually(lambda: bool(waiting_verifiers(client)))
            lose(waiting_verifiers(client)[0]["Id"])

        result = sandbox.trial(package, agent)
        assert (result.reward, result.fault, len(result.steps)) == (1.0, None, 1)


def test_none_is_left_where_the_agent_fails(
    sandbox: Sandbox, client: APIClient, package: TaskPackage
) -> None:
    def agent(session: Session) -> None:
        session.run("true")
        raise LookupError

    with pytest.raises(LookupError):
        sandbox.trial(package, agent)
    assert eventually(lambda: not waiting_verifiers(client))


def test_one_that_reads_its_input_finds_none(sandbox: Sandbox, tmp_path: Path) -> None:
    """The line that lets the shell go on, and the connection, are not the verifier's to read."""
    test = "if read -r line; then echo 0; else echo 1; fi > /logs/verifier/reward.txt\n"
    assert sandbox.trial(write_package(tmp_path / "reads", test=test), untouched()).reward == 1.0
