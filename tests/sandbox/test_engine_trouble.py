"""An engine that fails: nobody's doing, so it is tried again, and then missing (rule 5)."""

from __future__ import annotations

from pathlib import Path

import pytest
from docker import APIClient

from arena.packages import TaskPackage
from arena.sandbox import EngineUnavailable, Sandbox, Session, oracle, scripted
from tests.sandbox.packages import DOCKERFILE, write_package
from tests.sandbox.proxy import Proxy
from tests.sandbox.waiting import eventually, waiting_verifiers

pytestmark = pytest.mark.docker

SOLVE = "echo amber > /root/answer.txt"


@pytest.fixture
def package(tmp_path: Path) -> TaskPackage:
    return write_package(tmp_path / "word")


def test_no_engine_is_told_with_its_address(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match=r"nonesuch\.sock"):
        Sandbox(f"unix://{tmp_path}/nonesuch.sock")


def test_certificates_that_are_not_there_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(tmp_path))
    with pytest.raises(EngineUnavailable, match="certificate"):
        Sandbox("tcp://127.0.0.1:1")


def test_an_engine_that_is_gone_is_the_platforms_fault(
    docker_engine: str, package: TaskPackage
) -> None:
    with Proxy(docker_engine) as proxy, Sandbox(proxy.url) as sandbox:
        sandbox.build(package)
        proxy.cut()
        result = sandbox.trial(package, scripted([SOLVE]))
    assert (result.reward, result.fault) == (None, "platform")


def test_a_connection_lost_under_the_agent_has_it_act_again(
    docker_engine: str, client: APIClient, package: TaskPackage
) -> None:
    calls: list[str] = []

    def agent(session: Session) -> None:
        calls.append("called")
        session.run("true")
        assert eventually(lambda: bool(waiting_verifiers(client)))
        if len(calls) == 1:
            proxy.refuse_one()
        session.run(SOLVE)

    with Proxy(docker_engine) as proxy, Sandbox(proxy.url) as sandbox:
        result = sandbox.trial(package, agent)
    assert (result.reward, result.fault) == (1.0, None)
    assert (len(calls), len(result.steps)) == (2, 2)


def test_a_connection_lost_by_the_verifier_leaves_the_agents_work(
    docker_engine: str, package: TaskPackage
) -> None:
    calls: list[str] = []

    def agent(session: Session) -> None:
        calls.append("called")
        assert eventually(lambda: not proxy.refuses)
        session.run(SOLVE)

    with Proxy(docker_engine) as proxy, Sandbox(proxy.url) as sandbox:
        sandbox.build(package)
        proxy.refuse_one()
        result = sandbox.trial(package, agent)
    assert (result.reward, result.fault) == (1.0, None)
    assert len(calls) == 1


def test_an_image_that_somebody_removed_is_built_again(
    docker_engine: str, sandbox: Sandbox, tmp_path: Path
) -> None:
    package = write_package(tmp_path / "removed", dockerfile=DOCKERFILE + "ENV REMOVED=1\n")
    client = APIClient(base_url=docker_engine, version="auto")
    client.remove_image(sandbox.build(package), force=True)
    client.close()
    assert sandbox.trial(package, oracle()).reward == 1.0
