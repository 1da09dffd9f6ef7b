"""`arena convert` and `arena new` as an author meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.cli import main
from arena.cli.new import MARKER
from arena.packages.schema import Domain
from arena.packages.yamltext import load_yaml
from tests.hub import RunningHub
from tests.packages.foreign import HARBOR, STEPS, TERMINAL_BENCH, write_task


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No token, and a Hub that nobody listens for."""
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:1")


@pytest.fixture
def arena(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> tuple[int, dict[str, Any]]:
        code = main([*map(str, arguments), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def test_one_task_becomes_one_package(arena: Any, tmp_path: Path) -> None:
    source = write_task(tmp_path / "task", HARBOR)
    code, answer = arena("convert", source, tmp_path / "made")
    assert (code, answer["ok"], answer["skipped"]) == (0, True, [])
    (task,) = answer["tasks"]
    assert (task["source"], task["format"]) == (str(source), "harbor")
    assert set(task["mapped"][0]) == {"from", "to", "note"}
    assert set(task["left"][0]) == {"what", "why"}
    assert "environment/seed.txt" in task["carried"]
    assert main(["check", str(tmp_path / "made")]) == 0


def test_one_bad_task_does_not_stop_the_others(arena: Any, tmp_path: Path) -> None:
    write_task(tmp_path / "tasks" / "My_Task.1", HARBOR)
    write_task(tmp_path / "tasks" / "bad", HARBOR, {"instruction.md": None})
    write_task(tmp_path / "tasks" / "old", TERMINAL_BENCH)
    (tmp_path / "tasks" / "notes").mkdir()
    code, answer = arena("convert", tmp_path / "tasks", tmp_path / "made")
    assert (code, answer["ok"], answer["skipped"]) == (1, False, ["notes"])
    assert [task.get("error", {}).get("code") for task in answer["tasks"]] == [
        None,
        "not_converted",
        None,
    ]
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["my-task-1", "old"]


def test_the_domain_can_be_given(arena: Any, tmp_path: Path) -> None:
    source = write_task(tmp_path / "task", STEPS)
    assert arena("convert", source, tmp_path / "a")[0] == 1
    assert arena("convert", source, tmp_path / "b", "--domain", "mathematics")[0] == 0
    code, answer = arena("convert", source, tmp_path / "c", "--domain", "games")
    assert (code, answer["error"]["code"]) == (2, "usage")
    assert all(domain in answer["error"]["message"] for domain in Domain)


def test_a_conversion_that_cannot_be_says_why(arena: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    cases = [
        (tmp_path / "absent", 2, "usage"),
        (tmp_path / ("a" * 300), 2, "usage"),
        (tmp_path / "empty", 1, "no_task"),
        (write_task(tmp_path / "package", {"task.md": "x"}), 1, "no_task"),
        (write_task(tmp_path / "bad", HARBOR, {"task.toml": "["}), 1, "not_converted"),
    ]
    for source, status, error in cases:
        code, answer = arena("convert", source, tmp_path / "made")
        assert (code, answer["ok"], answer["error"]["code"]) == (status, False, error)
    assert not (tmp_path / "made").exists()
    source = write_task(tmp_path / "good", HARBOR)
    code, answer = arena("convert", source, tmp_path / ("a" * 300))
    assert (code, answer["error"]["code"]) == (1, "destination_in_use")


def test_the_report_can_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    key = '"\\u001b[31m[bold]x" = 1\n'
    settings = HARBOR["task.toml"].replace("surprise", key + "surprise")
    source = write_task(tmp_path / "task", HARBOR, {"task.toml": settings})
    assert main(["convert", str(source), str(tmp_path / "made")]) == 0
    shown = capsys.readouterr()
    for text in ("as it is", "left", "metadata.author_email", "[bold]x", "For you to look at:"):
        assert text in shown.out
    assert "\x1b" not in shown.out
    assert f"arena check {tmp_path / 'made'}" in shown.err


def test_a_new_package_lists_what_to_fill_in(arena: Any, tmp_path: Path) -> None:
    options = ("--into", tmp_path, "--author", "123", "--domain", "finance and economics")
    code, answer = arena("new", "spot-errors", *options)
    folder = tmp_path / "spot-errors"
    assert (code, answer["ok"]) == (0, True)
    assert answer["package"] == {
        "path": str(folder),
        "name": "spot-errors",
        "author": "123",
        "domain": "finance-economics",
    }
    front = load_yaml((folder / "task.md").read_text(encoding="utf-8").split("---")[1]).data
    assert front["metadata"]["author_hub"] == "123"
    assert front["metadata"]["category"] == "finance-economics"
    for item in answer["to_fill"]:
        line = (folder / item["file"]).read_text(encoding="utf-8").splitlines()[item["line"] - 1]
        assert MARKER in line
    files = {item["file"] for item in answer["to_fill"]}
    assert {"task.md", "verifier/test_outputs.py", "oracle/solve.sh"} <= files
    assert answer["next"] == f"arena check {folder}"


def test_the_author_is_the_tokens(
    arena: Any, hub: RunningHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_author")
    assert arena("new", "offline", "--into", tmp_path)[1]["package"]["author"] is None
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    assert arena("new", "online", "--into", tmp_path)[1]["package"]["author"] == "author"
    monkeypatch.setenv("HF_TOKEN", "hf_nobody")
    assert arena("new", "unknown", "--into", tmp_path)[1]["package"]["author"] is None


def test_what_stays_open_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["new", "a-b", "--into", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "task.md:4" in shown.out
    assert f"author_hub stays {MARKER}: there is no token" in shown.err
    assert "Next: arena check" in shown.err


@pytest.mark.parametrize(
    ("arguments", "status", "error"),
    [
        (["Not A Slug"], 2, "usage"),
        (["../x"], 2, "usage"),
        (["-x"], 2, "usage"),
        (["x", "--domain", "games"], 2, "usage"),
        (["x", "--author", "a: b"], 2, "usage"),
        (["taken"], 1, "not_made"),
        (["x", "--into", "file"], 1, "not_made"),
        (["x", "--into", "a" * 300], 1, "not_made"),
    ],
)
def test_what_cannot_be_made_is_refused(
    arena: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    status: int,
    error: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "file").write_text("x")
    code, answer = arena("new", *arguments)
    assert (code, answer["error"]["code"]) == (status, error)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken"]
