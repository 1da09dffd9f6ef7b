"""`arena replay` in real containers: verdicts, what is shown of a failure, and going on later."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from docker import APIClient

from arena.cli import main
from arena.sandbox import Caps
from arena.sandbox.engine import LABEL
from arena.sandbox.owners import OWNER_LABEL
from arena.sandbox.replay import Replay
from arena.sandbox.replay_cache import ReplayCache
from tests.collections import FILES, write_collection, write_package
from tests.sandbox.waiting import eventually

pytestmark = pytest.mark.docker


@pytest.fixture(autouse=True)
def _own_cache(docker_engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", docker_engine)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def replayed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = main(["replay", *arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_sound_packages_are_proven_and_known_the_next_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_collection(tmp_path / "c", count=3)
    status, answer = replayed(capsys, str(folder), "--jobs", "2", "--repeat", "2")
    assert (status, answer["ok"]) == (0, True)
    packages = answer["packages"]
    assert [(p["oracle"], p["untouched"], p["known"]) for p in packages] == [
        ([1.0, 1.0], [0.0, 0.0], False)
    ] * 3
    assert all(p["known"] for p in replayed(capsys, str(folder), "--repeat", "2")[1]["packages"])
    (folder / "write-apple-1" / "oracle" / "note.txt").write_text("changed\n")
    again = replayed(capsys, str(folder), "--repeat", "2")[1]["packages"]
    assert [p["known"] for p in again] == [True, False, True]


FAILURES = [
    ("oracle fails", {"oracle/solve.sh": "#!/bin/sh\necho trying\nexit 3\n"}, "trying"),
    (
        "untouched scores",
        {"verifier/test.sh": "#!/bin/sh\n[ -e /root ] && r=1 || r=0\necho looked\necho $r > /logs/verifier/reward.txt\n"},
        "looked",
    ),
    ("no reward", {"verifier/test.sh": "#!/bin/sh\necho judging\n"}, "judging"),
    ("not built", {"environment/Dockerfile": "FROM busybox:1.35.0\nRUN echo building && false\n"}, "building"),
]  # fmt: skip


@pytest.mark.parametrize(("verdict", "changes", "said"), FAILURES, ids=[f[0] for f in FAILURES])
def test_a_failure_says_what_happened(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    verdict: str,
    changes: dict[str, str | None],
    said: str,
) -> None:
    root = write_package(tmp_path / "write-apple", changes)
    assert main(["replay", str(root)]) == 1
    shown = capsys.readouterr().out
    assert verdict in shown
    assert f"    {said}" in shown
    assert "0 of 1 proven" in shown


def test_packages_with_errors_are_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write_package(tmp_path / "write-apple", {"oracle/solve.sh": None})
    status, answer = replayed(capsys, str(root))
    assert status == 1
    assert answer["error"]["code"] == "unsound_packages"


def test_where_no_package_is_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = replayed(capsys, str(tmp_path))
    assert (status, answer["error"]["code"]) == (1, "no_packages")
    assert str(tmp_path) in answer["error"]["message"]


def test_what_the_engine_is_too_old_for_is_known_before_the_rest_goes_on(
    docker_engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_collection(tmp_path / "c", count=2)
    with (folder / "write-apple-1" / "environment" / "Dockerfile").open("a") as file:
        file.write("RUN <<END\ntrue\nEND\n")
    client = APIClient(base_url=docker_engine, version="auto")
    version = client.version()["Version"]
    client.close()
    other, new = replayed(capsys, str(folder))[1]["packages"]
    assert other["verdict"] == "proven"
    if int(version.partition(".")[0]) >= 23:
        assert new["verdict"] == "proven"
    else:
        assert (new["verdict"], new["known"]) == ("no engine", False)
        assert "line 3: a here-document needs a Docker engine of version 23" in new["reason"]
        assert new["reason"].endswith(version)
        assert [p["known"] for p in replayed(capsys, str(folder))[1]["packages"]] == [True, False]


def test_without_a_docker_command_it_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    status, answer = replayed(capsys, str(write_package(tmp_path / "write-apple")))
    assert status == 1
    assert answer["error"]["code"] == "no_docker_command"
    assert "docker.io" in answer["error"]["next"]


def test_a_wrong_setting_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_IMAGE_CACHE_GB", "much")
    status, answer = replayed(capsys, str(write_package(tmp_path / "write-apple")))
    assert status == 1
    assert answer["error"]["code"] == "bad_setting"
    assert "ARENA_IMAGE_CACHE_GB" in answer["error"]["message"]


def test_without_an_engine_it_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    status, answer = replayed(capsys, str(write_package(tmp_path / "write-apple")))
    assert status == 1
    assert answer["error"]["code"] == "no_engine"


def test_killed_it_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_collection(tmp_path / "c", count=3)
    slow = FILES["oracle/solve.sh"].replace("apple", "apple2").replace("\necho", "\nsleep 60\necho")
    (folder / "write-apple-2" / "oracle" / "solve.sh").write_text(slow)
    command = [sys.executable, "-m", "arena", "replay", str(folder), "--jobs", "1"]
    running = subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL)
    cache = tmp_path / "cache" / "posttrain-arena" / "replays"
    deadline = time.monotonic() + 120
    while len(list(cache.glob("*.json"))) < 2:
        assert time.monotonic() < deadline
        assert running.poll() is None
        time.sleep(0.1)
    running.send_signal(signal.SIGKILL)
    running.wait()
    (folder / "write-apple-2" / "oracle" / "solve.sh").write_text(slow.replace("sleep 60\n", ""))
    status, answer = replayed(capsys, str(folder))
    assert status == 0
    assert [p["known"] for p in answer["packages"]] == [True, True, False]


def test_fresh_and_killed_it_leaves_nothing_after_the_next(
    docker_engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_collection(tmp_path / "c", count=1)
    assert replayed(capsys, str(folder))[0] == 0
    command = [sys.executable, "-m", "arena", "replay", str(folder), "--fresh"]
    running = subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL)

    def its_containers() -> list[Any]:
        return [
            one
            for one in client.containers(all=True, filters={"label": LABEL})
            if f"|{running.pid}|" in one["Labels"][OWNER_LABEL]
        ]

    client = APIClient(base_url=docker_engine, version="auto")
    try:
        assert eventually(lambda: bool(its_containers()))
        running.send_signal(signal.SIGKILL)
        running.wait()
        assert its_containers()
        status, answer = replayed(capsys, str(folder))
        assert (status, answer["packages"][0]["known"]) == (0, False)
        assert not its_containers()
    finally:
        client.close()


def test_a_cache_that_takes_nothing_costs_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    root = write_package(tmp_path / "write-apple")
    for arguments in ([], ["--fresh"]):
        assert main(["replay", str(root), *arguments]) == 0
        shown = capsys.readouterr()
        assert "1 of 1 proven" in shown.out
        assert "No verdict is kept for the next time" in shown.err


def test_a_verdict_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    cache = ReplayCache(tmp_path, Caps())
    cache.put("a", 1, Replay(verdict="proven", oracle=(1.0,), untouched=(0.0,)))
    found = cache.get("a", 1)
    assert found is not None
    assert found.verdict == "proven"
    assert cache.get("a", 2) is None
    assert ReplayCache(tmp_path, Caps(agent_timeout_sec=1)).get("a", 1) is None
    assert ReplayCache(tmp_path, Caps()).get("a", 1) == found
    [file] = tmp_path.iterdir()
    file.write_text('{"verdict": "pro')
    assert cache.get("a", 1) is None
    cache.put("b", 1, Replay(verdict="no engine"))
    assert cache.get("b", 1) is None
