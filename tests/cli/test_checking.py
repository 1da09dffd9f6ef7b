"""`arena check` on whatever an author may name."""

import json
import os
import shlex
from pathlib import Path

import pytest

from arena.cli import main
from tests.collections import write_collection, write_package

Capture = pytest.CaptureFixture[str]


def write_harbor_task(folder: Path) -> Path:
    files = {
        "task.toml": '[metadata]\nauthor_name = "Ada"\ncategory = "programming"\n',
        "instruction.md": "Write apple to /root/answer.txt.\n",
        "environment/Dockerfile": "FROM busybox:1.35.0\n",
        "tests/test.sh": "grep -q apple /root/answer.txt\necho $? > /logs/verifier/reward.txt\n",
        "solution/solve.sh": "echo apple > /root/answer.txt\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_a_folder_named_twice_is_checked_once(tmp_path: Path, capsys: Capture) -> None:
    write_collection(tmp_path / "c")
    (tmp_path / "link").symlink_to(tmp_path / "c")
    paths = [str(tmp_path / name) for name in ("c", "c/.", "link", "c/../c")]
    assert main(["check", *paths, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [part["path"] for part in answer["paths"]] == [paths[0]]
    assert len(answer["packages"]) == 2


def test_a_file_is_answered_with_what_to_name(tmp_path: Path, capsys: Capture) -> None:
    package = write_package(tmp_path / "p")
    assert main(["check", str(package / "task.md"), "--json"]) == 2
    assert "name the package's folder" in json.loads(capsys.readouterr().out)["error"]["message"]


def test_a_finding_about_a_folder_is_at_the_folder(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for name in ("empty", "."):
        assert main(["check", name]) == 1
        assert "/." not in capsys.readouterr().out


def test_the_command_that_a_task_of_another_format_is_answered_with_works(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_harbor_task(tmp_path / "My Task_1")
    assert main(["check", "My Task_1"]) == 1
    command = capsys.readouterr().err.strip().removeprefix("Next: ")
    assert command == "arena convert 'My Task_1' packages/my-task-1"
    assert main(shlex.split(command)[1:]) == 0
    capsys.readouterr()
    assert main(["check", "packages"]) == 1  # the licence alone is left to its author
    assert "TP014" in capsys.readouterr().out


def test_a_task_of_another_format_in_a_collection_is_named_with_its_command(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_package(tmp_path / "c" / "p")
    write_harbor_task(tmp_path / "c" / "tasks" / "My Task_1")
    assert main(["check", str(tmp_path / "c"), "--json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    command = finding["hint"].partition(": ")[2]
    assert command == "arena convert 'tasks/My Task_1' packages/my-task-1"
    monkeypatch.chdir(tmp_path / "c")
    assert main(shlex.split(command)[1:]) == 0


def test_a_folder_that_may_not_be_read_is_said_and_not_passed_over(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests run as root, who may read anything, so what the system answers is made up."""
    write_package(tmp_path / "good")
    write_package(tmp_path / "closed")
    write_package(tmp_path / "part")
    may = os.access
    closed = (str(tmp_path / "closed"), str(tmp_path / "part" / "oracle"))
    monkeypatch.setattr(
        os, "access", lambda path, mode: str(path) not in closed and may(path, mode)
    )
    assert main(["check", str(tmp_path), "--json"]) == 1
    packages = {p["name"]: p["findings"] for p in json.loads(capsys.readouterr().out)["packages"]}
    places = {
        (name, f["file"]) for name, fs in packages.items() for f in fs if f["code"] == "TP007"
    }
    assert places == {("closed", "."), ("part", "oracle")}
    assert packages["good"] == []
    assert main(["check", closed[0]]) == 2
    assert "read" in capsys.readouterr().err
