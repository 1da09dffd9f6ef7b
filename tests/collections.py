"""Small task packages for tests: a sound one, and what a test changes in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from huggingface_hub import HfApi

FILES = {
    "task.md": """---
version: "1.0"
metadata:
  author_hub: author
  category: software-engineering
  difficulty: easy
  license: Apache-2.0
  origin: original
agent:
  timeout_sec: 10
verifier:
  timeout_sec: 10
environment:
  memory_mb: 64
---

## prompt

Write the word apple to /root/answer.txt.
""",
    "environment/Dockerfile": "FROM busybox:1.35.0\nCOPY seed.txt /root/\n",
    "environment/seed.txt": "seed\n",
    "verifier/test.sh": """#!/bin/sh
if [ "$(cat /root/answer.txt)" = apple ]; then r=1; else r=0; fi
echo $r > /logs/verifier/reward.txt
""",
    "verifier/verifier.md": """---
document_version: "0.3"
verifier:
  name: answer
  default_strategy: main
  strategies:
    main: {type: script, command: sh /verifier/test.sh}
---

The file holds the word.
""",
    "verifier/rubrics/quality.md": "The answer is exact.\n",
    "oracle/solve.sh": "#!/bin/sh\necho apple > /root/answer.txt\n",
}


def write_package(root: Path, changes: dict[str, str | None] | None = None) -> Path:
    """Writes the sound package at `root`, with some files changed, added, or (None) left out."""
    for path, text in {**FILES, **(changes or {})}.items():
        if text is None:
            continue
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8", "surrogateescape"))
    return root


def write_collection(root: Path, count: int = 2, word: str = "apple") -> Path:
    """Writes a collection of `count` sound packages that `word` makes its own."""
    for number in range(count):
        prompt = FILES["task.md"].replace("apple", f"{word}{number}")
        test = FILES["verifier/test.sh"].replace("apple", f"{word}{number}")
        solve = FILES["oracle/solve.sh"].replace("apple", f"{word}{number}")
        changes = {"task.md": prompt, "verifier/test.sh": test, "oracle/solve.sh": solve}
        write_package(root / f"write-{word}-{number}", changes)
    return root


def upload(api: HfApi, repo: str, folder: Path, private: bool = False) -> str:
    """Publishes a folder as a dataset; returns the commit."""
    api.create_repo(repo, repo_type="dataset", exist_ok=True, private=private)
    return api.upload_folder(
        repo_id=repo, repo_type="dataset", folder_path=folder, delete_patterns="*"
    ).oid
