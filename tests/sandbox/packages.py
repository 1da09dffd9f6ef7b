"""Small task packages for trials, written to disk and loaded like anybody's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.packages import TaskPackage, load_package

TASK = """\
---
version: "1.0"
metadata:
  author_hub: author
  category: software-engineering
  difficulty: easy
  tags: [files]
  license: Apache-2.0
  origin: original
agent:
  timeout_sec: {agent_sec}
{agent}verifier:
  timeout_sec: {verifier_sec}
{verifier}environment:
  build_timeout_sec: {build_sec}
  cpus: 1
  memory_mb: {memory_mb}
  storage_mb: 16
{environment}{more}---

## prompt

Write the word amber to the file /root/answer.txt.
"""
DOCKERFILE = "FROM busybox:1.35.0\nWORKDIR /root\n"
TEST = """\
#!/bin/sh
here=$(dirname "$0")
if [ "$(cat /root/answer.txt 2>/dev/null)" = "$(cat "$here/expected.txt")" ]
then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
SOLVE = "echo amber > /root/answer.txt\n"
VERIFIER = """\
---
document_version: "0.3"
verifier:
  name: answer
  default_strategy: script
  strategies:
    script: {type: script, command: test.sh}
  rubric:
    dimensions:
      answer: {weight: 1.0}
---

Passing means that the file holds the word.
"""
FILES = {
    "environment/Dockerfile": DOCKERFILE,
    "verifier/test.sh": TEST,
    "verifier/expected.txt": "amber\n",
    "verifier/test_outputs.py": "# The check is test.sh's own.\n",
    "verifier/verifier.md": VERIFIER,
    "verifier/rubrics/verifier.md": "The file holds the word and nothing else.\n",
    "oracle/solve.sh": SOLVE,
}


def write_package(
    root: Path,
    *,
    dockerfile: str = DOCKERFILE,
    test: str = TEST,
    solve: str = SOLVE,
    agent_sec: float = 20,
    verifier_sec: float = 20,
    build_sec: float = 60,
    memory_mb: int = 64,
    user: str | int | None = None,
    mode: str | None = None,
    services: Sequence[str] = (),
    more: str = "",
    files: Mapping[str, str | bytes] | None = None,
) -> TaskPackage:
    """A package whose one task is a word in a file; each part can be another.

    The scripts and `files` go in after the check: trials must stand what the check of text refuses.
    """
    task = TASK.format(
        agent_sec=agent_sec,
        verifier_sec=verifier_sec,
        build_sec=build_sec,
        memory_mb=memory_mb,
        agent=f"  user: {json.dumps(user)}\n" if user is not None else "",
        verifier=f"  environment_mode: {mode}\n" if mode else "",
        environment=f"  services: {json.dumps(list(services))}\n" if services else "",
        more=more,
    )
    _write(root, {"task.md": task, **FILES})
    package = load_package(root)
    scripts = {"environment/Dockerfile": dockerfile, "verifier/test.sh": test}
    _write(root, scripts | {"oracle/solve.sh": solve} | dict(files or {}))
    return package


def _write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
