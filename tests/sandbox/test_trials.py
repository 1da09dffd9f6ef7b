"""Trials end to end: rewards, faults, limits, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from docker import APIClient

from arena.packages import TaskPackage
from arena.sandbox import (
    BuildError,
    Caps,
    Sandbox,
    Session,
    SessionOver,
    oracle,
    scripted,
    untouched,
)
from tests.sandbox.packages import DOCKERFILE, write_package

pytestmark = pytest.mark.docker

SOLVE = "echo amber > /root/answer.txt"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> TaskPackage:
    return write_package(tmp_path_factory.mktemp("trials") / "write-word")


def trials_of(url: str, *, label: str = "org.posttrain-arena=trial") -> list[str]:
    client = APIClient(base_url=url, version="auto")
    try:
        return [one["Id"] for one in client.containers(all=True, filters={"label": label})]
    finally:
        client.close()


def test_the_oracle_scores_and_the_untouched_does_not(
    sandbox: Sandbox, package: TaskPackage
) -> None:
    results = sandbox.map(lambda agent: sandbox.trial(package, agent), [oracle(), untouched()])
    assert [result.reward for result in results] == [1.0, 0.0]
    assert [result.fault for result in results] == [None, None]
    assert results[0].image == sandbox.build(package)


def test_a_script_with_a_shebang_is_run_by_it(sandbox: Sandbox, tmp_path: Path) -> None:
    package = write_package(
        tmp_path / "shebang",
        solve='#!/bin/awk -f\nBEGIN { print "amber" > "/root/answer.txt" }\n',
    )
    assert sandbox.trial(package, oracle()).reward == 1.0


def test_legacy_names_and_the_environment_are_there(sandbox: Sandbox, tmp_path: Path) -> None:
    package = write_package(
        tmp_path / "legacy",
        test="cmp /tests/expected.txt $BENCHFLOW_WORKSPACE/answer.txt && "
        "[ -e $BENCHFLOW_VERIFIER_DIR/test.sh ] && echo '{\"reward\": 1}' > $BENCHFLOW_REWARD_JSON",
        solve="cp /solution/../oracle/solve.sh /tmp/x && echo amber > /root/answer.txt\n",
    )
    assert sandbox.trial(package, oracle()).reward == 1.0


def test_work_is_carried_with_what_was_deleted(sandbox: Sandbox, tmp_path: Path) -> None:
    package = write_package(
        tmp_path / "carried",
        dockerfile="FROM busybox:1.35.0\nRUN mkdir -p /srv/work && touch /srv/work/old /srv/keep\n",
        test='[ -e /srv/keep ] && [ ! -e /srv/work/old ] && [ "$(cat "/srv/work/a b/n")" = new ] '
        "&& [ -x /srv/work/run ] && [ ! -e /root/mine ] && echo 1 > /logs/verifier/reward.txt",
        more="artifacts: [/srv/work, /srv/none]\n",
    )
    solve = "cd /srv/work; rm old; mkdir 'a b'; echo new > 'a b/n'; touch run; chmod +x run"
    result = sandbox.trial(package, scripted([solve, "rm /srv/keep; touch /root/mine"]))
    assert result.reward == 1.0


def test_a_volume_of_the_image_is_carried_too(sandbox: Sandbox, tmp_path: Path) -> None:
    package = write_package(tmp_path / "volume", dockerfile=DOCKERFILE + "VOLUME /root\n")
    assert sandbox.trial(package, scripted([SOLVE])).reward == 1.0


def test_an_entrypoint_and_a_health_check_of_the_image_do_not_get_in_the_way(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    dockerfile = DOCKERFILE + 'ENTRYPOINT ["false"]\nHEALTHCHECK CMD false\n'
    package = write_package(tmp_path / "entrypoint", dockerfile=dockerfile)
    assert sandbox.trial(package, scripted([SOLVE])).reward == 1.0


def test_an_agent_that_the_image_does_not_know_is_the_packages_fault(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    package = write_package(tmp_path / "unknown", user="nobody-here")
    result = sandbox.trial(package, oracle())
    assert result.reward == 0.0
    assert "unable to find user nobody-here" in result.steps[0].output


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["separate", "shared"])
def test_too_many_files_are_the_agents_fault(sandbox: Sandbox, tmp_path: Path, mode: str) -> None:
    package = write_package(tmp_path / "many", mode=mode)
    many = "mkdir /root/d; cd /root/d; seq 1 51000 | xargs touch"
    result = sandbox.trial(package, scripted([SOLVE, many]))
    assert (result.reward, result.fault) == (0.0, "agent")
    assert result.detail == "the agent left more than 50,000 files to be copied"


def test_a_path_too_long_to_be_copied_is_told_plainly(sandbox: Sandbox, tmp_path: Path) -> None:
    package = write_package(tmp_path / "deep", mode="shared")
    name = "n" * 200
    deep = f"i=0; while [ $i -lt 25 ] && mkdir {name} && cd {name}; do i=$((i + 1)); done"
    result = sandbox.trial(package, scripted([SOLVE, deep]))
    assert (result.reward, result.fault) == (0.0, "agent")
    assert result.detail == "the agent left a path that is too long to be copied"


def test_steps_tell_what_commands_did(sandbox: Sandbox, package: TaskPackage) -> None:
    commands = ["echo out; echo err >&2; exit 3", "yes | head -c 1000000", "printf '\\377'"]
    steps = sandbox.trial(package, scripted(commands)).steps
    assert [step.command for step in steps] == commands
    assert (steps[0].exit_code, sorted(steps[0].output.split())) == (3, ["err", "out"])
    assert len(steps[1].output) == 8000
    assert steps[2].output == "\ufffd"


def test_output_of_quick_commands_is_never_lost(sandbox: Sandbox, package: TaskPackage) -> None:
    result = sandbox.trial(package, scripted([f"echo {number}" for number in range(20)]))
    assert [step.output for step in result.steps] == [f"{number}\n" for number in range(20)]


def test_a_process_left_behind_does_not_hold_a_command_up(
    sandbox: Sandbox, package: TaskPackage
) -> None:
    result = sandbox.trial(package, scripted([f"{SOLVE}; sleep 1000 &"]))
    assert (result.reward, result.steps[0].exit_code) == (1.0, 0)
    assert result.seconds < 8


def test_localhost_is_there_without_network(sandbox: Sandbox, package: TaskPackage) -> None:
    serve = "mkdir /www; echo hello > /www/x; httpd -h /www; wget -q -O- http://localhost/x"
    assert sandbox.trial(package, scripted([serve])).steps[0].output == "hello\n"


def test_what_an_agent_did_before_its_time_was_up_is_verified(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    package = write_package(tmp_path / "slow", agent_sec=1)
    result = sandbox.trial(package, scripted([SOLVE, "sleep 100", "echo never"]))
    assert (result.reward, result.fault) == (1.0, None)
    assert [step.exit_code for step in result.steps] == [0, None]
    assert "the agent took longer than 1 s" in result.detail


def test_a_session_that_is_over_says_so(sandbox: Sandbox, tmp_path: Path) -> None:
    def agent(session: Session) -> None:
        assert session.run("sleep 100").exit_code is None
        with pytest.raises(SessionOver):
            session.run("true")

    package = write_package(tmp_path / "over", agent_sec=0.5)
    assert sandbox.trial(package, agent).reward == 0.0


def test_an_agents_own_exception_comes_out(docker_engine: str, package: TaskPackage) -> None:
    def agent(session: Session) -> None:
        session.run("true")
        raise ConnectionError("the model is gone")

    with Sandbox(docker_engine) as sandbox, pytest.raises(ConnectionError, match="model"):
        sandbox.trial(package, agent)


REWARDS = {
    "nothing": "true",
    "text": "echo yes > /logs/verifier/reward.txt",
    "not-finite": "echo nan > /logs/verifier/reward.txt",
    "out-of-range": "echo 2 > /logs/verifier/reward.txt",
    "list": "echo '{\"reward\": [1]}' > /logs/verifier/reward.json",
    "boolean": "echo '{\"reward\": true}' > /logs/verifier/reward.json",
    "disagreement": "cd /logs/verifier; echo 1 > reward.txt; echo '{\"reward\": 0}' > reward.json",
    "too-large": "yes 1 | head -c 100000 > /logs/verifier/reward.txt",
    "symlink": "echo 1 > /tmp/r; ln -s /tmp/r /logs/verifier/reward.txt",
    "pipe": "mkfifo /logs/verifier/reward.txt",
    "folder": "mkdir /logs/verifier/reward.txt",
    "folder-gone": "rm -rf /logs",
    "folder-a-symlink": "mkdir /tmp/v; echo 1 > /tmp/v/reward.txt; rm -rf /logs/verifier; "
    "ln -s /tmp/v /logs/verifier",
    "huge-folder": "cd /logs/verifier; for i in 1 2 3 4 5 6; do head -c 15000000 /dev/zero > a$i; "
    "done; echo 1 > reward.txt",
    "exit-1": "echo oh no; exit 1",
    "no-interpreter": "#!/bin/nonesuch",
}


def test_no_valid_reward_is_the_verifiers_fault(sandbox: Sandbox, tmp_path: Path) -> None:
    packages = [write_package(tmp_path / name, test=test) for name, test in REWARDS.items()]
    results = sandbox.map(lambda package: sandbox.trial(package, untouched()), packages)
    outcomes = {one.name: (r.reward, r.fault) for one, r in zip(packages, results, strict=True)}
    assert outcomes == dict.fromkeys(REWARDS, (None, "verifier"))
    assert results[list(REWARDS).index("exit-1")].verifier_output == "oh no\n"


def test_an_image_without_a_shell_is_the_authors_to_mend(sandbox: Sandbox, tmp_path: Path) -> None:
    package = write_package(tmp_path / "no-shell", dockerfile="FROM scratch\nCOPY Dockerfile /x\n")
    fake = "RUN echo '#!/bin/false' > /x && chmod 755 /x && mv -f /x /bin/sh\n"
    other = write_package(tmp_path / "fake-shell", dockerfile=DOCKERFILE + fake)
    assert sandbox.trial(other, untouched()).fault == "verifier"
    for agent in (untouched(), scripted([SOLVE])):
        result = sandbox.trial(package, agent)
        assert (result.reward, result.fault) == (None, "verifier")
        assert "exec sh failed" in result.verifier_output


def test_a_failing_verifier_with_a_reward_is_scored(sandbox: Sandbox, tmp_path: Path) -> None:
    package = write_package(tmp_path / "exit", test="echo 0.5 > /logs/verifier/reward.txt; exit 7")
    result = sandbox.trial(package, untouched())
    assert (result.reward, result.fault) == (0.5, None)


def test_a_reward_in_the_image_is_not_the_verifiers(sandbox: Sandbox, tmp_path: Path) -> None:
    plant = "RUN mkdir -p /logs/verifier && echo 1 > /logs/verifier/reward.txt\n"
    package = write_package(tmp_path / "planted", dockerfile=DOCKERFILE + plant, test="true")
    assert sandbox.trial(package, untouched()).fault == "verifier"


def test_a_verifier_that_takes_too_long(sandbox: Sandbox, tmp_path: Path) -> None:
    test = "echo waiting; echo 1 > /logs/verifier/reward.txt; sleep 100"
    package = write_package(tmp_path / "late", test=test, verifier_sec=1)
    result = sandbox.trial(package, untouched())
    assert (result.reward, result.fault) == (None, "verifier")
    assert "longer than 1 s" in result.detail
    assert result.verifier_output == "waiting\n"


def test_a_missing_reward_is_tried_for_again_where_asked(sandbox: Sandbox, tmp_path: Path) -> None:
    # Scores about every other time.
    test = "case $(head -c 1 /dev/urandom | od -An -tu1) in *[02468]) "
    test += "echo 1 > /logs/verifier/reward.txt;; esac"
    package = write_package(tmp_path / "flaky", test=test)
    assert sandbox.trial(package, untouched(), verifications=20).reward == 1.0


def test_caps_bound_what_a_package_asks_for(docker_engine: str, tmp_path: Path) -> None:
    package = write_package(tmp_path / "greedy", agent_sec=900)
    with Sandbox(docker_engine, caps=Caps(agent_timeout_sec=0.5, pids=20)) as sandbox:
        result = sandbox.trial(package, scripted(["cat /sys/fs/cgroup/pids/pids.max", "sleep 60"]))
    assert result.seconds < 10
    assert result.steps[-1].exit_code is None


class TestBuild:
    def test_an_image_is_built_once_for_one_content(self, sandbox: Sandbox, tmp_path: Path) -> None:
        packages = [write_package(tmp_path / name) for name in ("one", "two")]
        packages.append(write_package(tmp_path / "three", dockerfile=DOCKERFILE + "ENV A=1\n"))
        one, two, three = sandbox.map(sandbox.build, packages)
        assert one == two != three

    @pytest.mark.parametrize(
        ("dockerfile", "said"),
        [
            ("FROM busybox:1.35.0\nRUN echo made it; exit 9\n", "exit code: 9"),
            ("FROM busybox:1.35.0\nCOPY nonesuch /\n", "nonesuch"),
            ("FROM busybox:1.35.0\nRUN wget -q -O- http://1.1.1.1\n", "exit code"),
        ],
    )
    def test_a_failure_is_told_with_its_log(
        self, sandbox: Sandbox, tmp_path: Path, dockerfile: str, said: str
    ) -> None:
        package = write_package(tmp_path / "broken", dockerfile=dockerfile)
        with pytest.raises(BuildError, match=said) as caught:
            sandbox.trial(package, untouched())
        assert "FROM docker.io/library/busybox:1.35.0" in caught.value.log

    @pytest.mark.parametrize("command", ["sleep 60", "while true; do echo x; sleep 0.2; done"])
    def test_it_has_a_time_limit(self, sandbox: Sandbox, tmp_path: Path, command: str) -> None:
        dockerfile = f"FROM busybox:1.35.0\nRUN {command}\n"
        package = write_package(tmp_path / "endless", dockerfile=dockerfile, build_sec=1)
        began = time.monotonic()
        with pytest.raises(BuildError, match="time is up"):
            sandbox.build(package)
        assert time.monotonic() - began < 10


class TestNothingIsLeft:
    def test_an_error_does_not_wait_for_trials_that_run(
        self, docker_engine: str, tmp_path: Path
    ) -> None:
        def run(commands: list[str]) -> None:
            if not commands:
                time.sleep(2)
                raise KeyboardInterrupt
            sandbox.trial(package, scripted(commands))

        package = write_package(tmp_path / "interrupted", agent_sec=300)
        before = set(trials_of(docker_engine))
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt), Sandbox(docker_engine) as sandbox:
            sandbox.map(run, [[], ["sleep 250"], ["sleep 250"]])
        assert time.monotonic() - began < 30
        assert set(trials_of(docker_engine)) <= before

    def test_close_removes_every_container(self, docker_engine: str, package: TaskPackage) -> None:
        before = set(trials_of(docker_engine))
        with Sandbox(docker_engine) as sandbox:
            sandbox.map(lambda agent: sandbox.trial(package, agent), [oracle(), untouched()] * 3)
        assert set(trials_of(docker_engine)) <= before

    def test_sweep_removes_what_a_killed_process_left(
        self, docker_engine: str, sandbox: Sandbox, package: TaskPackage
    ) -> None:
        sandbox.build(package)
        code = (
            "import os, signal, sys; from pathlib import Path\n"
            "from arena.packages import load_package; from arena.sandbox import Sandbox\n"
            "def agent(session): session.run('true'); os.kill(os.getpid(), signal.SIGKILL)\n"
            "Sandbox(sys.argv[1]).trial(load_package(Path(sys.argv[2])), agent)\n"
        )
        command = [sys.executable, "-c", code, docker_engine, str(package.root)]
        done = subprocess.run(
            command, check=False, env={**os.environ, "PYTHONPATH": str(Path.cwd())}
        )
        assert done.returncode == -9
        left = trials_of(docker_engine)

        def agent(session: Session) -> None:
            session.run("true")
            assert sandbox.sweep() >= 1
            assert session.container in trials_of(docker_engine)

        assert sandbox.trial(package, agent).fault is None
        assert left
        assert not set(left) & set(trials_of(docker_engine))
