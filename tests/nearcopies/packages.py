"""Task packages of some size for these tests, and what a copyist does to one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.collections import write_package

KIT = Path(__file__).parents[2] / "starting-kit" / "examples"


def copy_of(source: Path, target: Path, change: Callable[[str, str], str]) -> Path:
    """A copy of a package whose texts went through `change(path, text)`."""
    for path in sorted(source.rglob("*")):
        if path.is_file():
            name = path.relative_to(source).as_posix()
            made = target / name
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(change(name, path.read_text()))
    return target


def with_prompt(root: Path, prompt: str) -> Path:
    """The package with another prompt."""
    task = root / "task.md"
    task.write_text(
        re.sub(r"## prompt\n.*", f"## prompt\n\n{prompt}\n", task.read_text(), flags=re.S)
    )
    return root


def small_package(root: Path, prompt: str, oracle: str, condition: str) -> Path:
    """A package of one command."""
    package = write_package(
        root,
        {
            "oracle/solve.sh": f"#!/bin/sh\n{oracle}\n",
            "verifier/test.sh": f"#!/bin/sh\nif {condition}; then r=1; else r=0; fi\n"
            "echo $r > /logs/verifier/reward.txt\n",
        },
    )
    return with_prompt(package, prompt)
