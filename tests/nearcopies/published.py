"""Collections on a hub that are like the demo's suite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from local.demo.tasks import write_suite
from tests.collections import upload, write_collection
from tests.hub import RunningHub

WORDS = {"harbor": "lantern", "pigeon": "oyster", "/srv": "/home"}


def publish_like_the_suite(
    hub: RunningHub, folder: Path, change: Callable[[str, str], str], account: str = "author"
) -> str:
    """A collection of four sound packages, and the suite's first two after a change."""
    suite = write_suite(folder / "suite", 2)
    target = write_collection(folder / "mine", 4, f"w{uuid4().hex[:8]}")
    for number, task in enumerate(suite):
        for path in task.rglob("*"):
            if path.is_file():
                name = path.relative_to(task).as_posix()
                made = target / f"my-own-{number}" / name
                made.parent.mkdir(parents=True, exist_ok=True)
                made.write_text(change(name, path.read_text()))
    repo = f"{account}/like-{uuid4().hex[:8]}"
    upload(hub.api(account), repo, target)
    return f"hf:{repo}@main"


def with_other_names(path: str, text: str) -> str:
    for old, new in WORDS.items():
        text = text.replace(old, new)
    return text


def reworded(path: str, text: str) -> str:
    """The suite's oracle and verifier under another prompt: like it, and no copy of a task so small."""
    if path != "task.md":
        return with_other_names(path, text)
    return text.partition("## prompt")[0] + "## prompt\n\nSee to /home/answer.txt as was agreed.\n"
