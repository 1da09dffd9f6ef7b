"""What the check of a package may cost, whatever is in it: seconds of CPU and megabytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.packages.reading import MAX_PYTHON_TOKENS, MAX_REQUIRED_BYTES, MAX_SCRIPT_BYTES
from bench.packages import write_collection
from tests.collections import FILES, write_package

ROOT = Path(__file__).parents[2]
LARGE = MAX_REQUIRED_BYTES - 2048
SCRIPT = MAX_SCRIPT_BYTES - 4096
MAX_SECONDS = 20
MAX_MB = 300


# the largest memory of a child, as its parent is told it, holds what the parent had when it forked
_MEASURED = """\
import json, os, pathlib, sys
from arena.cli import main
status = main(sys.argv[1:])
lines = pathlib.Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
json.dump({"seconds": sum(os.times()[:4]), "megabytes": peak / 1024}, sys.stderr)
sys.exit(status)
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the peak of memory")


class Cost(NamedTuple):
    """One check in a process of its own."""

    codes: set[str]
    seconds: float
    megabytes: float


def cost_of(folder: Path) -> Cost:
    """Runs `arena check FOLDER --json`; a traceback is a failure."""
    command = [sys.executable, "-c", _MEASURED, "check", str(folder), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    answer, used = json.loads(done.stdout), json.loads(done.stderr)
    found = [*answer["findings"], *(f for p in answer["packages"] for f in p["findings"])]
    return Cost({f["code"] for f in found}, used["seconds"], used["megabytes"])


def filled(piece: str, size: int = LARGE) -> str:
    return piece * (size // len(piece))


TASK, TEST, DOCKERFILE = FILES["task.md"], "#!/bin/sh\n", "FROM a\n"
PYTHON, RUBRIC = "verifier/test_outputs.py", "verifier/rubrics/quality.md"
SECRETS = filled("AKIAABCDEFGHIJKLMNOP\n", 200_000)
WIDE = "\U0001f600" + "a" * 1_000_000
CASES: dict[str, dict[str, str | None]] = {
    # tree-sitter's time grows with the square of these, shfmt's memory with the depth
    "pipes": {"verifier/test.sh": TEST + filled("a|")},
    "arrays": {"verifier/test.sh": TEST + filled("a=(")},
    "functions": {"verifier/test.sh": TEST + filled("f() ")},
    "heredocs": {"verifier/test.sh": TEST + "".join(f"cat <<a{i} " for i in range(15_000))},
    "parentheses": {"verifier/test.sh": TEST + filled("(")},
    "substitutions": {"verifier/test.sh": TEST + "eval " + filled('"$(eval ')},
    "small scripts": {f"verifier/t{i}.sh": TEST + "a|" * 2000 for i in range(120)},
    "odd scripts": {f"verifier/t{i}.sh": TEST + "for a in b; { x; }; ((\n" for i in range(1500)},
    "rewards": {"verifier/test.sh": TEST + filled("echo $r>/logs/verifier/reward.txt\n")},
    "flags": {"verifier/test.sh": TEST + f"set -{filled('e')}1\necho 1 >/logs/verifier/reward.txt"},
    "assignments": {"verifier/test.sh": TEST + "env " + filled("a=1 ")},
    "own files": {"verifier/test.sh": TEST + filled("x tests/x.y\n")},
    # a tree of Python takes up to 2 KB a token
    "tuple": {PYTHON: "x=(" + "a," * (MAX_PYTHON_TOKENS // 2 - 50) + ")"},
    "commands": {PYTHON: f"a='{'b ' * 900}'\n" + "os.system(a)\n" * (MAX_PYTHON_TOKENS // 6)},
    "long number": {PYTHON: f"assert x == 0x{'f' * 5000}\njson.dump(0x{'f' * 5000})  # reward.txt"},
    "infinite number": {PYTHON: "assert x == 1e999 == 12345.5e999"},
    "blank reward": {PYTHON: f"open('reward.txt').write('{' ' * (SCRIPT // 2)}x')"},
    "answers": {PYTHON: filled("assert x=='aaa aaaaaaaaaaaa b'\n", 90_000), "task.md": TASK + filled("a")},
    "not nested": {PYTHON: "not " * 50_000 + "a"},
    "nested": {PYTHON: "(" * 60_000},
    # regular expressions, and what they are used on
    "blank lines": {"task.md": TASK + "a" + filled("\n", LARGE - 100) + "a", RUBRIC: filled("\n") + "a"},
    "marks": {RUBRIC: filled("!", 1024 * 1024)},
    "todos": {RUBRIC: filled("TODO! ", 1024 * 1024)},
    "secrets": {f"environment/{i}.txt": SECRETS for i in range(100)},
    "wide texts": {f"verifier/{i}.md": WIDE for i in range(60)},
    # Dockerfiles
    "argument": {"environment/Dockerfile": f"ARG a={'b' * 100_000}\nFROM " + filled("$a", 100_000)},
    "arguments": {"environment/Dockerfile": "FROM " + filled("${a-")},
    "stages": {"environment/Dockerfile": "".join(f"FROM a AS b{i}\n" for i in range(14_000))},
    "instruction flags": {"environment/Dockerfile": DOCKERFILE + "RUN " + filled("--a ")},
    "requirements": {
        "environment/Dockerfile": DOCKERFILE + filled("RUN pip install -r r.txt\n"),
        "environment/r.txt": filled("numpy\n", 1_000_000),
    },
    "patterns": {
        "environment/Dockerfile": DOCKERFILE + "".join(f"COPY */*/*/*/*x{i} y\n" for i in range(1000)),
        **{f"environment/{i}/a/b/c/{i}": "x" for i in range(1500)},
    },
    # YAML
    "keys": {"task.md": TASK.replace("agent:", "".join(f"k{i}: 1\n" for i in range(9000)) + "agent:")},
    "a million keys": {"task.md": TASK.replace("agent:", "a: 1\n" * 10**6 + "agent:")},
    "bomb": {"task.md": "---\na: &a [x,x]\n" + "".join(f"b{i}: [*a,*a]\n" for i in range(99)) + "---\n"},
    "deep": {"task.md": "---\na: " + filled("[") + "\n---\n"},
    "command": {
        "verifier/verifier.md": FILES["verifier/verifier.md"].replace("sh /v", filled("a") + " /v")
    },
    "long lines": dict.fromkeys(FILES, "x" * 10_000_000),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_package_is_judged_at_a_bounded_cost(tmp_path: Path, name: str) -> None:
    cost = cost_of(write_package(tmp_path / "p", CASES[name]))
    assert cost.seconds < MAX_SECONDS
    assert cost.megabytes < MAX_MB


def test_scripts_beyond_the_limit_are_no_way_past_the_check(tmp_path: Path) -> None:
    files: dict[str, str | None] = {f"verifier/t{i}.py": "a = 1\n" * 20_000 for i in range(9)}
    assert cost_of(write_package(tmp_path / "p", files)).codes == {"TP008"}


def test_the_cost_of_a_collection_is_linear(tmp_path: Path) -> None:
    costs = []
    for count in (20, 40):
        write_collection(tmp_path / str(count), count)
        costs.append(cost_of(tmp_path / str(count)))
    small, large = costs
    assert small.codes == large.codes == set()
    assert large.seconds <= 3 * small.seconds
    assert large.megabytes < 200
