"""`arena suite seal` and `arena check --against`: what organizers do with the suite itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.cli import main
from arena.nearcopies import SealedIndex, SealedIndexError
from local.demo.tasks import write_collection, write_suite

KEY = "a secret of more than 32 characters"


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ARENA_SUITE_KEY", KEY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_suite(tmp_path / "suite", 4)
    return tmp_path / "suite"


@pytest.fixture
def engine(docker_engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replays go to a real engine."""
    monkeypatch.setenv("DOCKER_HOST", docker_engine)


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_a_suite_is_sealed_under_the_key(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "made" / "index.npz"
    sealing = ["suite", "seal", str(suite), "--revision", "v7", "--out", str(file)]
    assert main([*sealing, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"]
    assert (told["index"]["tasks"], told["index"]["revision"]) == (4, "v7")
    assert SealedIndex.read(file, KEY.encode()).facts.revision == "v7"
    with pytest.raises(SealedIndexError):
        SealedIndex.read(file, b"x" * 40)
    assert main(sealing) == 0
    assert "4 tasks" in capsys.readouterr().out


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_a_suite_with_an_oracle_that_fails_is_not_sealed(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "index.npz"
    (suite / "write-harbor" / "oracle" / "solve.sh").write_text("#!/bin/sh\necho no\n")
    assert (
        main(["suite", "seal", str(suite), "--revision", "v1", "--out", str(file), "--json"]) == 1
    )
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "suite_unproven"
    assert "1 of the suite's 4 tasks" in error["message"]
    assert "write-harbor" in error["message"]
    assert not file.exists()


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("arguments", "key", "code", "status"),
    [
        (["{suite}", "--revision", "v1"], "short", "bad_setting", 1),
        (["{suite}/none", "--revision", "v1"], KEY, "usage", 2),
        (["{suite}/README.md", "--revision", "v1"], KEY, "usage", 2),
        (["{suite}"], KEY, "usage", 2),
        (["{suite}", "--revision", " "], KEY, "usage", 2),
        (["{suite}/blank", "--revision", "v1"], KEY, "usage", 2),
        (["{suite}", "--revision", "v1", "--out", "/proc/none/index.npz"], KEY, "file_trouble", 1),
    ],
)
def test_what_cannot_be_sealed_is_told(
    suite: Path,
    arguments: list[str],
    key: str,
    code: str,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ARENA_SUITE_KEY", key)
    monkeypatch.chdir(suite)
    (suite / "blank" / "task" / "oracle").mkdir(parents=True)
    filled = [argument.format(suite=suite) for argument in arguments]
    assert main(["suite", "seal", *filled, "--json"]) == status
    assert json.loads(capsys.readouterr().out)["error"]["code"] == code


def test_check_against_names_the_copies_and_their_tasks(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    write_collection(folder, 4)
    (suite / "write-harbor").rename(folder / "my-own")
    write_suite(suite, 4)
    assert main(["check", str(folder), "--against", str(suite), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    (found,) = told["near_copies"]
    assert (told["ok"], found["package"], found["task"]) == (False, "my-own", "write-harbor")
    assert (found["level"], found["part"], found["similarity"]) == ("copy", "package", 1.0)
    assert main(["check", str(folder), "--against", str(suite)]) == 1
    assert "write-harbor" in capsys.readouterr().out
    assert main(["check", str(folder / "my-own"), "--against", str(tmp_path / "none")]) == 2


def test_check_against_finds_an_honest_collection_clear(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_collection(tmp_path / "mine", 4)
    assert main(["check", str(tmp_path / "mine"), "--against", str(suite), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["near_copies"] == []
