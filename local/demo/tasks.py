"""Writes the demo's example collection and its held-out suite as task packages.

    python -m local.demo.tasks OUT      → OUT/collection, OUT/suite

The bytes are the same on every machine and at every call.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from local.demo.families import (
    COLLECTION_DIRECTORY,
    FAMILIES,
    SUITE_DIRECTORY,
    Family,
    Form,
)
from local.demo.words import COLLECTION_WORDS, SUITE_WORDS

AUTHOR = "author"
COLLECTION_SIZE = 12
SUITE_SIZE = 8

_TASK = """\
---
version: "1.0"
metadata:
  author_hub: {author}
  category: {domain}
  difficulty: easy
  tags: [{tags}]
  license: Apache-2.0
  origin: generated
agent:
  timeout_sec: 10
verifier:
  timeout_sec: 10
environment:
  cpus: 1
  memory_mb: 64
  storage_mb: 64
  allow_internet: false
artifacts: [{directory}]
---

## prompt

{prompt}
"""

_VERIFIER = """\
---
document_version: "0.3"
verifier:
  name: {name}
  default_strategy: state
  strategies:
    state:
      type: script
      command: "sh /verifier/test.sh"
---

Passing means: {passing}
How the agent got there does not matter.
"""

_RUBRIC = """\
# Quality

- **State**: {passing}
- **Care**: no other file of the directory was changed.
"""

_COLLECTION_TEST = """\
#!/bin/sh
# {passing}
mkdir -p /logs/verifier
reward=0
if {condition}; then
  reward=1
fi
echo "$reward" > /logs/verifier/reward.txt
"""

_SUITE_TEST = """\
#!/bin/sh
solved() {{
  {condition}
}}
out=${{BENCHFLOW_REWARD_TEXT:-/logs/verifier/reward.txt}}
mkdir -p "${{out%/*}}"
solved && printf '1.0\\n' > "$out" || printf '0.0\\n' > "$out"
"""

_CARD = """\
---
license: apache-2.0
tags: [task-packages]
configs: []
---

# {title}

{text}
"""

_SUBMISSION = f"""\
team_name: Demo authors
track: demo
license: Apache-2.0
members: [{AUTHOR}]
"""


@dataclass(frozen=True)
class TaskSpec:
    """One task: which form of which family, in which wording, about which words."""

    family: Family
    form: Form
    wording: int
    a: str
    b: str
    directory: str

    @property
    def name(self) -> str:
        return f"{self.family.name}-{self.a}"

    @property
    def prompt(self) -> str:
        return self.fill(self.form.prompts[self.wording])

    @property
    def oracle(self) -> str:
        """The command that solves the task."""
        return self.fill(self.form.oracle)

    def fill(self, template: str) -> str:
        return template.format(a=self.a, b=self.b, d=self.directory)


def collection_specs(
    count: int = COLLECTION_SIZE, families: Sequence[Family] = FAMILIES
) -> list[TaskSpec]:
    """The example collection's tasks: families in turn, wordings in turn within a family."""
    _require_words(count, COLLECTION_WORDS)
    specs = []
    for i in range(count):
        family = families[i % len(families)]
        a, b = COLLECTION_WORDS[2 * i : 2 * i + 2]
        wording = i // len(families) % 3
        specs.append(TaskSpec(family, family.collection, wording, a, b, COLLECTION_DIRECTORY))
    return specs


def suite_specs(count: int = SUITE_SIZE, fresh: int = 0) -> list[TaskSpec]:
    """The suite's tasks: families in turn, neighbouring families in different wordings.

    `fresh`: 1 and 2 give other suites, in which no family has a word or a wording where it had it.
    """
    _require_words(count, SUITE_WORDS)
    specs = []
    for i in range(count):
        family = FAMILIES[i % len(FAMILIES)]
        place = 2 * (i + fresh) % len(SUITE_WORDS)
        a, b = SUITE_WORDS[place : place + 2]
        wording = (i + i // len(FAMILIES) + fresh) % 3
        specs.append(TaskSpec(family, family.suite, wording, a, b, SUITE_DIRECTORY))
    return specs


def write_collection(
    root: Path, count: int = COLLECTION_SIZE, families: Sequence[Family] = FAMILIES
) -> list[Path]:
    """Writes the example collection at `root`; returns its packages' folders."""
    _write(root / "README.md", _CARD.format(title="Demo tasks", text=_COLLECTION_TEXT))
    _write(root / "submission.yaml", _SUBMISSION)
    specs = collection_specs(count, families)
    return [_write_package(root, spec, _COLLECTION_TEST) for spec in specs]


def write_suite(root: Path, count: int = SUITE_SIZE, fresh: int = 0) -> list[Path]:
    """Writes the held-out suite, or a fresh one, at `root`; returns its packages' folders."""
    _write(root / "README.md", _CARD.format(title="Demo suite", text=_SUITE_TEXT))
    return [_write_package(root, spec, _SUITE_TEST) for spec in suite_specs(count, fresh)]


_COLLECTION_TEXT = (
    "File tasks for the arena's `demo` challenge: write a file, make a directory, delete a file,\n"
    "copy a file. Each is solved by one shell command and checked by its outcome."
)
_SUITE_TEXT = "The held-out tasks of the `demo` challenge. Never train on them."


def _write_package(root: Path, spec: TaskSpec, test: str) -> Path:
    folder = root / spec.name
    passing = spec.fill(spec.form.passing)
    task = _TASK.format(
        author=AUTHOR,
        domain=spec.family.domain,
        tags=", ".join(spec.family.tags),
        directory=spec.directory,
        prompt=spec.prompt,
    )
    test_sh = test.format(passing=passing, condition=spec.fill(spec.form.condition))
    _write(folder / "task.md", task)
    _write(
        folder / "environment" / "Dockerfile",
        "FROM busybox:1.35.0\n" + spec.fill(spec.form.environment),
    )
    _write(folder / "verifier" / "test.sh", test_sh, executable=True)
    _write(folder / "verifier" / "verifier.md", _VERIFIER.format(name=spec.name, passing=passing))
    _write(folder / "verifier" / "rubrics" / "quality.md", _RUBRIC.format(passing=passing))
    _write(folder / "oracle" / "solve.sh", f"#!/bin/sh\n{spec.oracle}\n", executable=True)
    return folder


def _write(path: Path, text: str, executable: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    path.chmod(0o755 if executable else 0o644)


def _require_words(count: int, words: Sequence[str]) -> None:
    if not 1 <= count <= len(words) // 2:
        raise ValueError(f"{count} tasks asked for; there are words for 1 to {len(words) // 2}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    write_collection(out / "collection")
    write_suite(out / "suite")


if __name__ == "__main__":
    main()
