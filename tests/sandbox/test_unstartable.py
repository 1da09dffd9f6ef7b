"""Images in which no container starts, and lists of users that the engine must not open.

Both are their author's doing, or the agent's who wrote such a list: neither hangs, leaves a
container behind, or ends as the platform's fault.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from docker import APIClient

from arena.sandbox import Sandbox, oracle, replay, scripted, untouched
from tests.sandbox.hostile import WORK, assert_solved, assert_worth_nothing, told
from tests.sandbox.packages import DOCKERFILE, write_package
from tests.sandbox.proxy import Proxy

pytestmark = pytest.mark.docker

IMAGES = {
    "a working folder that is a file": "WORKDIR /w\nRUN cd / && rm -rf /w && echo x > /w\n",
    "a volume in the place of a file": "RUN echo x > /v\nVOLUME /v\n",
    "a volume for all": "VOLUME /\n",
    "a volume of processes": "VOLUME /proc\n",
    "a volume of devices": "VOLUME /dev /sys\n",
    "a folder in the place of the init": "RUN rm -rf /sbin; mkdir -p /sbin/docker-init\n",
    "a file in the place of a folder": "RUN rm -rf /sbin; echo x > /sbin\n",
}
LISTS = {
    "a pipe": "rm -f {0}; mkfifo {0}",
    "a link to a pipe": "mkdir -p /srv; mkfifo /srv/pipe; ln -sf ../srv/pipe {0}",
    "a folder": "rm -f {0}; mkdir {0}",
    "a large file": "head -c 3m /dev/zero | tr '\\000' '\\n' > {0}",
}
PLACES = ["/etc/passwd", "/etc/group"]


def assert_the_images(sandbox: Sandbox, folder: Path, dockerfile: str, why: str) -> None:
    package = write_package(folder / "image", dockerfile=DOCKERFILE + dockerfile)
    for agent in (oracle(), untouched()):
        result = sandbox.trial(package, agent)
        assert (result.reward, result.fault) == (None, "verifier"), told(result)
        assert "no container starts in the package's image, while others do" in result.detail
        assert why in result.detail
        assert "/overlay2/" not in result.detail


@pytest.mark.slow
@pytest.mark.parametrize("name", IMAGES)
def test_an_image_in_which_nothing_starts_is_its_authors(
    sandbox: Sandbox, tmp_path: Path, name: str
) -> None:
    assert_the_images(sandbox, tmp_path, IMAGES[name], "")


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_users_that_is_none_is_its_authors(
    sandbox: Sandbox, tmp_path: Path, name: str, place: str
) -> None:
    assert_the_images(sandbox, tmp_path, f"RUN {LISTS[name].format(place)}\n", place)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("mode", ["separate", "shared"])
def test_an_agent_that_makes_such_a_list_scores_0(
    sandbox: Sandbox, tmp_path: Path, name: str, place: str, mode: str
) -> None:
    package = write_package(tmp_path / "list", mode=mode, agent_sec=4)
    # A file of another owner than the one that the engine runs as: only then is a name looked up.
    attack = f"{WORK}; touch /root/other; chown 7:7 /root/other; {LISTS[name].format(place)}"
    assert_worth_nothing(sandbox.trial(package, scripted([attack])))
    assert_solved(sandbox.trial(package, scripted([WORK])))


@pytest.mark.parametrize("place", PLACES)
def test_a_verifier_that_makes_such_a_list_gives_no_reward(
    sandbox: Sandbox, tmp_path: Path, place: str
) -> None:
    test = (
        f"chown 7:7 /logs/verifier; echo 1 > /logs/verifier/reward.txt; rm {place}; mkfifo {place}"
    )
    result = sandbox.trial(write_package(tmp_path / "list", test=test), untouched())
    assert (result.reward, result.fault) == (None, "verifier"), told(result)
    assert f"{place} is no regular file" in result.detail


def test_services_that_end_before_the_verifier_begins_are_the_packages(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    ends = "RUN mkdir /e && printf '#!/bin/busybox sh\\nexit 0\\n' > /e/sh && chmod +x /e/sh\n"
    package = write_package(
        tmp_path / "ends", dockerfile=f"{DOCKERFILE}{ends}ENV PATH=/e:/bin\n", services=["true"]
    )
    result = sandbox.trial(package, untouched())
    assert (result.reward, result.fault) == (None, "verifier"), told(result)


def test_a_replay_says_why(sandbox: Sandbox, tmp_path: Path) -> None:
    dockerfile = f"{DOCKERFILE}RUN {LISTS['a pipe'].format('/etc/group')}\n"
    found = replay(sandbox, write_package(tmp_path / "pipe", dockerfile=dockerfile))
    assert (found.verdict, found.outputs) == ("no reward", {})
    assert "while others do: /etc/group is no regular file" in found.reason


def test_nothing_of_them_is_left(docker_engine: str, tmp_path: Path) -> None:
    client = APIClient(base_url=docker_engine, version="auto")
    package = write_package(tmp_path / "left", dockerfile=DOCKERFILE + IMAGES["a volume for all"])
    with Sandbox(docker_engine) as sandbox:
        sandbox.build(package)
        containers = {one["Id"] for one in client.containers(all=True)}
        images = {one["Id"] for one in client.images()}
        assert sandbox.trial(package, oracle()).fault == "verifier"
    assert {one["Id"] for one in client.containers(all=True)} <= containers
    assert {one["Id"] for one in client.images()} <= images
    client.close()


def test_an_engine_that_starts_nothing_is_the_platforms_fault(
    docker_engine: str, tmp_path: Path
) -> None:
    package = write_package(tmp_path / "word")
    with Proxy(docker_engine) as proxy, Sandbox(proxy.url) as sandbox:
        proxy.starts_containers = False
        result = sandbox.trial(package, oracle())
        assert (result.reward, result.fault) == (None, "platform"), told(result)
        assert "no container starts here" in result.detail
        proxy.starts_containers = True
        assert_solved(sandbox.trial(package, oracle()))
