"""The template: nobody can submit it as it is, and filling in what it marks makes it whole."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from arena.packages import check_package, load_package
from arena.sandbox import Sandbox, oracle, untouched
from tests.starting_kit.kit import TEMPLATE, contents

MARKER = "REPLACE-ME"
FILLED = {
    "task.md": {
        "author_hub: REPLACE-ME": "author_hub: author",
        "category: REPLACE-ME": "category: software-engineering",
        MARKER: "Copy the word of `/root/data/input.txt` to `/root/answer.txt`",
    },
    "environment/data/input.txt": {MARKER: "amber"},
    "verifier/test_outputs.py": {
        "pass  # REPLACE-ME": 'self.assertIn("amber", open("/root/answer.txt").read())  #'
    },
    "verifier/verifier.md": {"name: REPLACE-ME": "name: copy-word", MARKER: "The word is there"},
    "verifier/rubrics/quality.md": {MARKER: "Care"},
    "oracle/solve.sh": {
        'echo "REPLACE-ME: solve the task as a good agent would" >&2\nexit 1': (
            "cp /root/data/input.txt /root/answer.txt"
        )
    },
}


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """The template with everything filled in that it marks, and nothing else."""
    root = tmp_path / "copy-word"
    shutil.copytree(TEMPLATE, root)
    for name, changes in FILLED.items():
        path = root / name
        text = path.read_text(encoding="utf-8")
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    return root


def test_every_part_is_marked_and_refused() -> None:
    marked = [path for path, content in contents(TEMPLATE).items() if MARKER.encode() in content]
    assert marked == sorted(FILLED)
    assert not check_package(TEMPLATE).ok


def test_filled_in_it_is_a_sound_package(filled: Path) -> None:
    assert not any(MARKER.encode() in content for content in contents(filled).values())
    assert check_package(filled).findings == []


@pytest.mark.docker
def test_filled_in_it_is_scored(filled: Path, python_engine: str) -> None:
    package = load_package(filled)
    with Sandbox(python_engine) as sandbox:
        agents = [oracle(), untouched()]
        ended = sandbox.map(lambda agent: sandbox.trial(package, agent), agents)
    assert [result.reward for result in ended] == [1.0, 0.0], ended
