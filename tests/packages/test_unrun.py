"""Tests that `test.sh` starts as a script which runs none of them, and ways in which they do run."""

from pathlib import Path

import pytest

from arena.packages import check_package
from tests.collections import write_package

TEST = """#!/bin/sh
# 1 where test_outputs.py passes
if {command}; then r=1; else r=0; fi
echo $r > /logs/verifier/reward.txt
"""
BARE = """import json
from pathlib import Path
OUT = Path("/root/answer.txt")
def test_answer():
    assert OUT.read_text() == "apple"
"""
CASE = """import unittest
class Answer(unittest.TestCase):
    def test_answer(self):
        self.assertEqual(open("/root/answer.txt").read(), "apple")
"""
MAIN = "if __name__ == '__main__':\n    unittest.main()\n"
SCRIPT = "python3 -I /verifier/test_outputs.py"


def found(root: Path, command: str, python: str, **more: str) -> list[tuple[str, int | None]]:
    files = {f"verifier/{name}.py": text for name, text in more.items()}
    changes = {"verifier/test.sh": TEST.format(command=command), **files}
    package = write_package(root / "p", {**changes, "verifier/test_outputs.py": python})
    return [(f.code, f.line) for f in check_package(package).findings if f.code == "TP028"]


@pytest.mark.parametrize(
    ("command", "python"),
    [
        (SCRIPT, BARE),
        ("timeout 60 python3 /tests/test_outputs.py -v", BARE),
        (SCRIPT, CASE),
        (SCRIPT, "import unittest\n" + BARE + MAIN),
        (SCRIPT, BARE.replace("def", "import pytest\n@pytest.mark.slow\ndef")),
    ],
)
def test_tests_that_nobody_runs_are_found_where_they_are_started(
    tmp_path: Path, command: str, python: str
) -> None:
    assert found(tmp_path, command, python) == [("TP028", 3)]


@pytest.mark.parametrize(
    ("command", "python", "more"),
    [
        (SCRIPT, CASE + MAIN, {}),
        ("python3 -m pytest /verifier/test_outputs.py", BARE, {}),
        (f"{SCRIPT} && uvx pytest /verifier", BARE, {}),
        ("python3 -m unittest discover /verifier", CASE, {}),
        (SCRIPT, BARE + "test_answer()\n", {}),
        (SCRIPT, BARE + "for check in [test_answer]:\n    check()\n", {}),
        (SCRIPT, BARE + "failed = list(map(run, [test_answer]))\n", {}),
        (SCRIPT, BARE + "code = pytest.main([__file__])\n", {}),
        (SCRIPT, "import atexit\n@atexit.register\n" + "def test_a():\n    open('/root/a')\n", {}),
        (SCRIPT, "data = json.load(open('/root/answer.json'))\n" + BARE, {}),
        (f"{SCRIPT} && python3 /verifier/run.py", BARE, {"run": "import test_outputs as t\n"}),
        (f"{SCRIPT} && python3 -c 'import test_outputs as t; t.test_answer()'", BARE, {}),
        (SCRIPT, "def load_tests(*_): ...\n" + BARE + "import unittest\n" + MAIN, {}),
    ],
)
def test_tests_that_run_are_let_be(
    tmp_path: Path, command: str, python: str, more: dict[str, str]
) -> None:
    assert found(tmp_path, command, python, **more) == []
