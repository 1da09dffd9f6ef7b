"""scripts/run_local.sh: bash and Docker alone, and the verdicts of `arena replay`."""

import json
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from docker import APIClient

from arena.cli import main
from tests.collections import FILES, write_package
from tests.packages.changes import Changes, verdict

SCRIPT = Path(__file__).parents[2] / "scripts" / "run_local.sh"
ROW = re.compile(r"^(\S+) +(\S+) +(\S+) +([a-z ]+)$", re.M)


class Ended(NamedTuple):
    status: int
    rows: dict[str, tuple[str, str, str]]
    output: str
    said: str


def run_local(engine: str, *paths: Path) -> Ended:
    done = subprocess.run(
        ["bash", str(SCRIPT), *map(str, paths)],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DOCKER_HOST": engine, "HOME": "/tmp"},
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
    assert len({word for _, _, word in found.values()}) == 5, "every verdict but flaky, no engine"
    assert ended.status == 1
    assert "    trying" in ended.output
    assert "    building" in ended.output
    client = APIClient(base_url=docker_engine, version="auto")
    left = client.containers(all=True, filters={"label": "org.posttrain-arena=local"})
    client.close()
    assert left == []


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


def test_wrong_usage_says_how(tmp_path: Path) -> None:
    assert "scripts/run_local.sh PACKAGE" in run_local("unix:///none").said
    ended = run_local("unix:///none", write_package(tmp_path / "p", {"oracle/solve.sh": None}))
    assert ended.status == 2
    assert "arena check" in ended.said
    without = run_local(f"unix://{tmp_path}/none", write_package(tmp_path / "q"))
    assert (without.status, "No Docker engine answers" in without.said) == (1, True)
