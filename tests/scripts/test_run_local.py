"""scripts/run_local.sh: bash and Docker alone, and the verdicts of `arena replay`."""

import json
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from docker import APIClient

from arena.cli import main
from arena.sandbox.preflight import unbuildable
from tests.collections import FILES, write_package
from tests.packages.changes import Changes, verdict
from tests.sandbox.registry import serving
from tests.sandbox.test_buildlog import THE_AUTHORS, THE_PLATFORMS
from tests.sandbox.test_builds import Endless
from tests.sandbox.test_context import OTHER_NOTATIONS, REWRITTEN
from tests.sandbox.test_preflight import NEEDS, NOTHING
from tests.sandbox.waiting import eventually

SCRIPT = Path(__file__).parents[2] / "scripts" / "run_local.sh"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp"}
ROW = re.compile(r"^(\S+) +(\S+) +(\S+) +([a-z ]+)$", re.M)


class Ended(NamedTuple):
    status: int
    rows: dict[str, tuple[str, str, str]]
    output: str
    said: str


def run_local(engine: str, *paths: Path) -> Ended:
    done = subprocess.run(
        ["bash", str(SCRIPT), *map(str, paths)],
        env={**ENVIRONMENT, "DOCKER_HOST": engine},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    rows = {m[1]: (m[2], m[3], m[4]) for m in ROW.finditer(done.stdout) if m[1] != "package"}
    return Ended(done.returncode, rows, done.stdout, done.stderr)


CHECK = 'if [ "$(cat /root/answer.txt)" = apple ]; then r=1; else r=0; fi'
TEXT, JSON = "/logs/verifier/reward.txt", "/logs/verifier/reward.json"
PACKAGES: dict[str, Changes] = {
    "sound": {},
    "oracle-fails": {"oracle/solve.sh": "#!/bin/sh\necho trying\nexit 3\n"},
    "oracle-without-shebang": {"oracle/solve.sh": "echo apple > /root/answer.txt\n"},
    "oracle-too-slow": {
        "oracle/solve.sh": "#!/bin/sh\nsleep 60\necho apple > /root/answer.txt\n",
        "task.md": FILES["task.md"].replace("agent:\n  timeout_sec: 10", "agent:\n  timeout_sec: 2"),
    },
    "untouched-scores": verdict("[ -e /root ] && r=1 || r=0", f"echo $r > {TEXT}"),
    "no-reward": verdict("echo judging"),
    "not-a-number": verdict(f"echo nan > {TEXT}"),
    "out-of-range": verdict(f"wc -c < /root/seed.txt > {TEXT}"),
    "a-link-for-a-reward": verdict(CHECK, f"echo $r > /tmp/r; ln -s /tmp/r {TEXT}"),
    "one-point-oh": verdict(CHECK, f"echo $r.00 > {TEXT}"),
    "json-alone": verdict(CHECK, f"echo \"{{\\\"reward\\\": $r}}\" > {JSON}"),
    "json-that-agrees": verdict(CHECK, f"echo $r > {TEXT}", f"echo \"{{\\\"reward\\\": $r.0, \\\"a\\\": 3}}\" > {JSON}"),
    "json-that-disagrees": verdict(CHECK, f"echo $r > {TEXT}", f"echo '{{\"reward\": 0.5}}' > {JSON}"),
    "verifier-exits-1": verdict(CHECK, f"echo $r > {TEXT}", "exit 1"),
    "verifier-too-slow": {
        **verdict("sleep 60", CHECK, f"echo $r > {TEXT}"),
        "task.md": FILES["task.md"].replace("verifier:\n  timeout_sec: 10", "verifier:\n  timeout_sec: 2"),
    },
    "deletes-the-seed": {
        "oracle/solve.sh": "#!/bin/sh\nrm /root/seed.txt\necho apple > /root/answer.txt\n",
        **verdict("if [ -e /root/seed.txt ]; then r=0; else r=1; fi", f"echo $r > {TEXT}"),
    },
    "works-elsewhere": {
        "task.md": FILES["task.md"].replace("environment:\n", "artifacts: [/srv/out]\nenvironment:\n"),
        "oracle/solve.sh": "#!/bin/sh\nmkdir -p /srv/out\necho apple > /srv/out/a\n",
        **verdict("if grep -qx apple /srv/out/a; then r=1; else r=0; fi", f"echo $r > {TEXT}"),
    },
    "legacy-paths": {
        "oracle/solve.sh": "#!/bin/sh\nsh /solution/part.sh\n",
        "oracle/part.sh": "echo apple > /root/answer.txt\n",
        **verdict(". /tests/part.sh", CHECK, f"echo $r > {TEXT}"),
        "verifier/part.sh": "echo legacy\n",
    },
    "not-built": {"environment/Dockerfile": "FROM busybox:1.35.0\nRUN echo building && false\n"},
    "not-built-in-time": {
        "environment/Dockerfile": "FROM busybox:1.35.0\nRUN sleep 60\n",
        "task.md": FILES["task.md"].replace("  memory_mb", "  build_timeout_sec: 2\n  memory_mb"),
    },
    "nothing-starts": {"environment/Dockerfile": FILES["environment/Dockerfile"] + "VOLUME /proc\n"},
    "logs-are-a-volume": {
        "environment/Dockerfile": FILES["environment/Dockerfile"] + "VOLUME /logs\n"
    },
    "no-folder-to-begin-in": {
        "environment/Dockerfile": FILES["environment/Dockerfile"]
        + "WORKDIR /w\nRUN cd / && rm -rf /w && touch /w\n"
    },
    "no-registry": {"environment/Dockerfile": "FROM registry.invalid/nonesuch:1\n"},
    "new-engine": {"environment/Dockerfile": FILES["environment/Dockerfile"] + "RUN <<END\ntrue\nEND\n"},
    "directives": {
        "environment/Dockerfile": "# syntax=registry.invalid/evil:1\n# escape=`\n"
        + FILES["environment/Dockerfile"] + "RUN true `\n && true\n"
    },
    "ignored-ignore-file": {"environment/.dockerignore": "seed.txt\n"},
}  # fmt: skip


@pytest.mark.docker
@pytest.mark.slow
def test_the_verdicts_are_those_of_arena_replay(
    docker_engine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DOCKER_HOST", docker_engine)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    roots = [write_package(tmp_path / name, changes) for name, changes in PACKAGES.items()]
    assert main(["replay", *map(str, roots), "--json"]) == 1
    replayed = json.loads(capsys.readouterr().out)["packages"]
    expected = {
        p["name"]: (reward(p["oracle"]), reward(p["untouched"]), p["verdict"]) for p in replayed
    }
    ended = run_local(docker_engine, *roots)
    found = {name: (number(a), number(b), word) for name, (a, b, word) in ended.rows.items()}
    assert found == expected
    assert set(PACKAGES) == set(found)
    assert len({word for _, _, word in found.values()}) == 6, "every verdict but flaky"
    assert ended.status == 1
    assert "    trying" in ended.output
    assert "    building" in ended.output
    assert "its time is up" in ended.output
    [too_new] = [p for p in replayed if p["name"] == "new-engine"]
    assert too_new["reason"] in ended.output
    client = APIClient(base_url=docker_engine, version="auto")
    left = client.containers(all=True, filters={"label": "org.posttrain-arena=local"})
    images = client.images(filters={"label": "org.posttrain-arena=local"})
    client.close()
    assert left == images == []


def reward(rewards: list[float | None]) -> float | None:
    return rewards[0] if rewards else None


def number(shown: str) -> float | None:
    return None if shown in {"-", "none"} else float(shown)


FORMS = {
    "a flow mapping": ("agent:\n  timeout_sec: 10", "agent: {timeout_sec: 10}"),
    "the newer spelling": ("environment:\n", "sandbox:\n"),
    "a network mode": ("  memory_mb: 64", "  network_mode: public"),
    "a quoted number": ("  memory_mb: 64", "  memory_mb: '64'"),
    "a tab": ("  memory_mb: 64", "  memory_mb:\t64"),
    "a quoted key": ("agent:\n", '"agent":\n'),
}


@pytest.mark.docker
@pytest.mark.parametrize("form", FORMS)
def test_another_form_of_task_md_is_left_to_arena_replay(
    docker_engine: str, tmp_path: Path, form: str
) -> None:
    assert FORMS[form][0] in FILES["task.md"]
    root = write_package(tmp_path / "p", {"task.md": FILES["task.md"].replace(*FORMS[form])})
    ended = run_local(docker_engine, root)
    assert (ended.status, ended.rows) == (2, {})
    assert f"arena replay {root}" in ended.said


@pytest.mark.docker
@pytest.mark.parametrize("name", [".bashrc", ".jq", ".config/go/env"])
def test_an_oracle_that_changes_what_programs_start_with_is_left_to_arena_replay(
    docker_engine: str, tmp_path: Path, name: str
) -> None:
    solve = (
        f"#!/bin/sh\nmkdir -p /root/.config/go\necho apple > /root/answer.txt\ntouch /root/{name}\n"
    )
    root = write_package(tmp_path / "p", {"oracle/solve.sh": solve})
    ended = run_local(docker_engine, root)
    assert (ended.status, ended.rows) == (2, {})
    assert f"arena replay {root}" in ended.said


def script_function(call: str, *arguments: str, engine: str = "unix:///none") -> bytes:
    """What functions of the script print."""
    source = f'set -- "$@"; source <(sed "/^main /d" {SCRIPT}); begin; {call}'
    done = subprocess.run(
        ["bash", "-c", source, "bash", *arguments],
        env={**ENVIRONMENT, "DOCKER_HOST": engine},
        stdout=subprocess.PIPE,
        check=False,
    )
    return done.stdout


@pytest.mark.parametrize("case", [*NEEDS, *NOTHING])
def test_it_calls_an_engine_too_old_as_arena_replay_does(tmp_path: Path, case: str) -> None:
    text = "FROM busybox:1.35.0\n" + (NEEDS[case][0] if case in NEEDS else NOTHING[case])
    root = write_package(tmp_path / "p", {"environment/Dockerfile": text})
    for engine in ("20.10.24+dfsg1", "24.0.1", "28.0.0", "dev"):
        said = script_function('engine=$2; too_old_for "$1"', str(root), engine)
        assert said.decode().strip() == (unbuildable(text, engine) or "")


@pytest.mark.parametrize("case", REWRITTEN)
def test_it_takes_syntax_directives_away_as_the_arena_does(tmp_path: Path, case: str) -> None:
    root = write_package(tmp_path / "p")
    (root / "environment" / "Dockerfile").write_bytes(REWRITTEN[case][0])
    (root / "environment" / "link").symlink_to("/etc/passwd")
    (root / "environment" / "run").write_text("")
    (root / "environment" / "run").chmod(0o700)
    show = 'stage_context "$1" && cd "$work/context" && stat -c "%n %a" * && cat Dockerfile'
    said = script_function(show, str(root))
    files, rewritten = said[:36], said[36:]
    assert files == b"Dockerfile 644\nrun 755\nseed.txt 644\n"
    assert rewritten.rstrip(b"\n") == REWRITTEN[case][1].rstrip(b"\n")


@pytest.mark.parametrize("text", OTHER_NOTATIONS)
def test_other_notations_are_no_dockerfile(tmp_path: Path, text: bytes) -> None:
    root = write_package(tmp_path / "p")
    (root / "environment" / "Dockerfile").write_bytes(text)
    assert script_function('stage_context "$1" || echo refused', str(root)) == b"refused\n"


@pytest.mark.parametrize("word", [*THE_AUTHORS, *THE_PLATFORMS])
def test_it_finds_trouble_where_the_arena_does(word: str) -> None:
    call = 'printf "#1 0.1 hello\\n%s\\n\\n" "$1" > "$work/build.raw"; met_trouble && echo trouble'
    assert script_function(call, word) == (b"trouble\n" if word in THE_PLATFORMS else b"")


@pytest.mark.docker
@pytest.mark.parametrize(("others", "verdict"), [(200, "not built"), (503, "no engine")])
def test_a_registry_of_the_authors_in_trouble_is_theirs_where_others_answer(
    docker_engine: str, tmp_path: Path, others: int, verdict: str
) -> None:
    with serving(503) as registry, serving(others) as well_known:
        root = write_package(
            tmp_path / "p", {"environment/Dockerfile": f"FROM {registry.host}/x:1\n"}
        )
        call = (
            "PATH=$(dirname $(docker_command)):$PATH; processors=1; engine=dev; sleep() { :; }\n"
            'well_known=$2; run_package "$1" || true'
        )
        said = script_function(
            call, str(root), f"{well_known.host}/busybox:latest", engine=docker_engine
        )
        assert registry.asked >= 3
    assert f" {verdict}\n" in said.decode()
    assert (b"127.0.0.1 does not answer as a registry should" in said) == (others == 200)


@pytest.mark.docker
@pytest.mark.parametrize("signal", ["INT", "TERM"])
def test_it_leaves_nothing_where_it_is_stopped(
    docker_engine: str, tmp_path: Path, signal: str
) -> None:
    endless = Endless(tmp_path / "endless", docker_engine)
    running = subprocess.Popen(
        ["bash", str(SCRIPT), str(endless.package.root)],
        env={**ENVIRONMENT, "DOCKER_HOST": docker_engine},
        stdout=subprocess.DEVNULL,
    )
    assert eventually(endless.builds)
    subprocess.run(["kill", f"-{signal}", str(running.pid)], check=True)
    assert running.wait(60) == 130
    assert eventually(endless.is_over)


@pytest.mark.docker
def test_what_a_killed_one_left_goes_with_the_next(docker_engine: str, tmp_path: Path) -> None:
    """Not what one that lives has."""
    slow = {"oracle/solve.sh": "#!/bin/sh\nsleep 9\necho apple > /root/answer.txt\n"}
    root = write_package(tmp_path / "p", slow)
    environment = {**ENVIRONMENT, "DOCKER_HOST": docker_engine, "TMPDIR": str(tmp_path)}
    command = ["bash", str(SCRIPT), str(root)]
    killed, living = (
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    )
    client = APIClient(base_url=docker_engine, version="auto")

    def left(of: int) -> list[int]:
        """How many containers, images and folders it has."""
        owned = {"label": f"org.posttrain-arena.owner={owner(of)}"}
        return [
            len(client.containers(all=True, filters=owned)),
            len(client.images(filters=owned)),
            sum(str(of) in one.read_text() for one in tmp_path.glob("*/owner")),
        ]

    def owner(of: int) -> str:
        return next(label for label in owners if f"|{of}|" in label)

    try:
        assert eventually(lambda: len(running(client)) == 2)
        owners = running(client)
        killed.kill()
        killed.wait()
        assert left(killed.pid) == [1, 1, 1]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        assert left(killed.pid) == [0, 0, 0]
        assert " proven" in living.communicate()[0]
        assert left(living.pid) == [0, 0, 0]
    finally:
        client.close()


def running(client: APIClient) -> list[str]:
    """The owners of the script's containers that run."""
    found = client.containers(filters={"label": "org.posttrain-arena=local"})
    return [one["Labels"]["org.posttrain-arena.owner"] for one in found]


def test_wrong_usage_says_how(tmp_path: Path) -> None:
    assert "scripts/run_local.sh PACKAGE" in run_local("unix:///none").said
    ended = run_local("unix:///none", write_package(tmp_path / "p", {"oracle/solve.sh": None}))
    assert ended.status == 2
    assert "arena check" in ended.said
    without = run_local(f"unix://{tmp_path}/none", write_package(tmp_path / "q"))
    assert (without.status, "No Docker engine answers" in without.said) == (1, True)
