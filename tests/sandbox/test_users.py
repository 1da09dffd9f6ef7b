"""Whom an agent acts as: `agent.user`, else the image's USER; and what that one may not do."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.packages import TaskPackage
from arena.sandbox import Sandbox, oracle, scripted
from tests.sandbox.hostile import (
    Attack,
    Outcome,
    assert_solved,
    assert_worth_nothing,
    attack,
    first,
    outcomes,
)
from tests.sandbox.packages import write_package

pytestmark = [pytest.mark.docker, pytest.mark.slow]

DOCKERFILE = """\
FROM busybox:1.35.0
RUN echo 'worker:x:1000:1000::/srv/work:/bin/sh' >> /etc/passwd && \\
    mkdir -p /srv/work /srv/sealed && chown 1000:1000 /srv/work && chmod 755 /root && \\
    echo amber > /srv/sealed/answer.txt && chmod -R go= /srv/sealed
WORKDIR /srv/work
"""
TEST = """\
#!/bin/sh
[ "$(cat /srv/work/answer.txt)" = "$(cat /verifier/expected.txt)" ] && r=1
stat -c '%n %u %g' /srv/work/*
echo ${r:-0} > /logs/verifier/reward.txt
"""
WORK = "echo amber > /srv/work/answer.txt"


def tried(*commands: str, package: str = "worker") -> Attack:
    return first(*commands, package=package, work=WORK)


ATTACKS = {
    "reading what is root's": tried(
        "cat /srv/sealed/answer.txt > /srv/work/answer.txt; cp -r /srv/sealed /srv/work/mine"
    ),
    "becoming root by a set-uid program": tried(
        "/srv/cat /srv/sealed/answer.txt > /srv/work/answer.txt", package="set-uid"
    ),
    "becoming root by su": tried(
        "su -c 'cat /srv/sealed/answer.txt' > /srv/work/answer.txt < /dev/null"
    ),
    "becoming root by the list of users": tried(
        "echo 'root2::0:0::/:/bin/sh' >> /etc/passwd; su root2 -c 'cp /srv/sealed/answer.txt .'"
    ),
    "a link to what is root's": attack(
        "ln -s /srv/sealed/answer.txt /srv/work/answer.txt; ln /srv/sealed/answer.txt /srv/work/hard",
        honest=["ln -s /srv/sealed /srv/work/sealed; " + WORK],
        package="worker",
    ),
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TaskPackage]:
    root = tmp_path_factory.mktemp("users")
    # Busybox gives the right up by itself; Debian's cat would keep it.
    cat = "RUN cp /bin/cat /srv/cat && chmod 4755 /srv/cat\n"
    debian = DOCKERFILE.replace("busybox:1.35.0", "python:3.11-slim-bookworm") + cat
    return {
        name: write_package(root / name, dockerfile=dockerfile, test=TEST, user="worker")
        for name, dockerfile in {"worker": DOCKERFILE, "set-uid": debian}.items()
    }


@pytest.fixture(scope="module")
def trials(
    python_engine: str, sandbox: Sandbox, packages: dict[str, TaskPackage]
) -> dict[str, Outcome]:
    return outcomes(sandbox, packages, ATTACKS)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_worth_nothing(trials: dict[str, Outcome], name: str) -> None:
    assert_worth_nothing(trials[name].attacked)


@pytest.mark.parametrize("name", ATTACKS)
def test_honest_work_in_the_same_circumstances_is_worth_1(
    trials: dict[str, Outcome], name: str
) -> None:
    assert_solved(trials[name].honest)


@pytest.mark.parametrize(
    ("image", "declared", "uid"),
    [
        ("", None, 0),
        ("", "worker", 1000),
        ("", 65534, 65534),
        ("USER worker\n", None, 1000),
        ("USER 65534\n", "worker", 1000),
        ("USER worker\n", "root", 0),
    ],
)
def test_commands_and_the_oracle_run_as_the_agents_user(
    sandbox: Sandbox, tmp_path: Path, image: str, declared: str | int | None, uid: int
) -> None:
    anybody = DOCKERFILE + "RUN chmod 777 /srv/work\n" + image
    package = write_package(
        tmp_path / "user",
        dockerfile=anybody,
        test=TEST,
        solve=f"id -u; {WORK}\n",
        user=declared,
    )
    (step,) = sandbox.trial(package, scripted(["id -u"])).steps
    assert step.output == f"{uid}\n"
    solved = sandbox.trial(package, oracle())
    assert_solved(solved)
    assert solved.steps[0].output == f"{uid}\n"


def test_files_keep_their_owner(sandbox: Sandbox, packages: dict[str, TaskPackage]) -> None:
    result = sandbox.trial(packages["worker"], scripted([WORK]))
    assert result.verifier_output == "/srv/work/answer.txt 1000 1000\n"
