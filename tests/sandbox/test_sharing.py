"""What reaches a verifier beside the workspace: the whole disk, and services, where declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.packages import TaskPackage
from arena.sandbox import Sandbox, oracle, scripted, untouched
from tests.sandbox.packages import DOCKERFILE, write_package

pytestmark = pytest.mark.docker

IMAGE = DOCKERFILE + (
    "RUN mkdir -p /srv/old /etc/app && echo 1 > /srv/old/a && echo 1 > /srv/old/b "
    "&& echo image > /etc/app/set && echo keep > /srv/keep\n"
)
LOOK = "set -e; cd /; echo 0 > /logs/verifier/reward.txt\n"
SCORE = "echo 1 > /logs/verifier/reward.txt\n"


def shared(root: Path, test: str, dockerfile: str = IMAGE, more: str = "") -> TaskPackage:
    return write_package(
        root, dockerfile=dockerfile, test=LOOK + test + "\n" + SCORE, mode="shared", more=more
    )


def test_every_change_on_the_disk_is_seen(sandbox: Sandbox, tmp_path: Path) -> None:
    package = shared(
        tmp_path / "disk",
        "[ $(cat /etc/app/set) = agent ]; [ ! -e /srv/old/a ]; [ $(cat /srv/old/b) = 1 ]\n"
        "[ $(cat '/opt/new folder/x') = x ]; [ -x /opt/run ]; [ $(cat /srv/keep) = keep ]\n"
        "[ $(cat /tmp/t) = t ]; [ $(mytool) = tool ]; [ -d /srv/gone ] && exit 1; [ -f /srv/kind ]",
        IMAGE + "RUN mkdir /srv/gone /srv/kind && touch /srv/gone/x\n",
    )
    work = [
        "echo agent > /etc/app/set; rm /srv/old/a; mkdir -p '/opt/new folder'",
        "echo x > '/opt/new folder/x'; touch /opt/run; chmod +x /opt/run; echo t > /tmp/t",
        "printf '#!/bin/sh\\necho tool\\n' > /bin/mytool; chmod +x /bin/mytool",
        "rm -r /srv/gone /srv/kind; touch /srv/kind",
    ]
    result = sandbox.trial(package, scripted(work))
    assert (result.reward, result.fault) == (1.0, None), result.verifier_output
    assert sandbox.trial(package, untouched()).reward == 0.0


def test_a_volume_is_seen_too(sandbox: Sandbox, tmp_path: Path) -> None:
    package = shared(tmp_path / "volume", "[ $(cat /data/x) = new ]", IMAGE + "VOLUME /data\n")
    assert sandbox.trial(package, scripted(["echo new > /data/x"])).reward == 1.0


def test_the_images_programs_and_start_up_files_stand(sandbox: Sandbox, tmp_path: Path) -> None:
    package = shared(
        tmp_path / "stand",
        "[ $(cat /srv/keep) = keep ]; [ ! -e /etc/profile.d/x.sh ]; [ ! -e /usr/local/bin/cat ]\n"
        "grep keep /srv/keep",
    )
    attack = [
        "mkdir -p /usr/local/bin /etc/profile.d; touch /etc/profile.d/x.sh",
        "printf '#!/bin/sh\\necho keep\\n' > /usr/local/bin/cat; chmod +x /usr/local/bin/cat",
        "printf '#!/bin/sh\\nexit 0\\n' > /bin/grep.new; chmod +x /bin/grep.new",
        "mv /bin/grep.new /bin/grep; rm /bin/rm",
    ]
    assert sandbox.trial(package, scripted(attack)).reward == 1.0
    spoilt = ["echo other > /srv/keep", *attack]
    assert sandbox.trial(package, scripted(spoilt)).reward == 0.0


def test_links_to_the_answer_do_not_cross(sandbox: Sandbox, tmp_path: Path) -> None:
    package = write_package(tmp_path / "links", mode="shared")
    attacks = [
        ["ln -s /verifier/expected.txt /root/answer.txt"],
        ["ln -s / /srv; ln -s /srv/verifier/expected.txt /root/answer.txt"],
        ["ln -s /verifier /opt; ln -s /opt/expected.txt /root/answer.txt"],
        ["ln -s /proc/self/root/verifier/expected.txt /root/answer.txt"],
        ["rm -rf /logs /verifier; mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt"],
    ]
    rewards = sandbox.map(lambda one: sandbox.trial(package, scripted(one)).reward, attacks)
    assert rewards == [0.0] * len(attacks)
    assert sandbox.trial(package, oracle()).reward == 1.0


def test_too_many_changes_are_the_agents_fault(sandbox: Sandbox, tmp_path: Path) -> None:
    package = shared(tmp_path / "many", "true")
    many = "mkdir /srv/d; cd /srv/d; seq 1 51000 | xargs touch"
    result = sandbox.trial(package, scripted([many]))
    assert (result.reward, result.fault) == (0.0, "agent")


SERVICES = ["sh /root/serve.sh", "echo $$ > /tmp/second; sleep 1000"]
SERVE = 'RUN printf "while :; do nc -l -p 8080 -e cat /root/word; done" > /root/serve.sh\n'
ASK = """\
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  answer=$(nc localhost 8080 < /dev/null) && break
  sleep 1
done
"""


def test_services_run_beside_the_agent_and_again_beside_the_verifier(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    package = write_package(
        tmp_path / "served",
        dockerfile=DOCKERFILE + SERVE + "RUN echo image > /root/word\n",
        test=f'{ASK} [ "$answer" = amber ] && echo 1 > /logs/verifier/reward.txt '
        "|| echo 0 > /logs/verifier/reward.txt",
        services=SERVICES,
    )
    result = sandbox.trial(package, scripted([f"{ASK} echo $answer", "echo amber > /root/word"]))
    assert result.steps[0].output == "image\n"
    assert result.reward == 1.0
    assert sandbox.trial(package, untouched()).reward == 0.0


def test_a_service_of_the_agents_reaches_neither_the_verifier_nor_its_reward(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    package = write_package(
        tmp_path / "hostile-service",
        dockerfile=DOCKERFILE + SERVE,
        test="sleep 2; ls /tmp; echo 0 > /logs/verifier/reward.txt; sleep 1",
        services=SERVICES,
    )
    evil = (
        "while :; do mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; "
        "touch /tmp/here; ls /verifier > /root/seen 2>/dev/null; kill -9 -1; done"
    )
    result = sandbox.trial(package, scripted([f"echo '{evil}' > /root/serve.sh"]))
    assert (result.reward, result.verifier_output) == (0.0, "")
