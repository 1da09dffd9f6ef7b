"""The six steps by the command line, as a coding agent takes them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi

from local.demo.families import FAMILIES
from local.demo.tasks import write_collection
from local.stack import ROOT, Stack
from tests.collections import upload
from tests.e2e.conftest import CHALLENGE

pytestmark = pytest.mark.docker

REPO = "author/by-command"


class CommandLine:
    """`python -m arena … --json` against a stack."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    def __call__(self, account: str | None, *arguments: str) -> dict[str, Any]:
        env = self._stack.env("publish") | {"ARENA_URL": self._stack.options.url}
        done = subprocess.run(
            [sys.executable, "-m", "arena", *arguments, "--json"],
            env=env | ({"HF_TOKEN": f"hf_{account}"} if account else {}),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=500,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        assert (done.returncode == 0) == answer["ok"], done.stderr
        return answer


def test_from_a_collection_to_the_commons(stack: Stack, tmp_path: Path) -> None:
    arena = CommandLine(stack)
    write_collection(tmp_path, 2, FAMILIES[2:])
    upload(HfApi(endpoint=stack.options.hub_url, token="hf_author"), REPO, tmp_path)

    assert arena("author", "whoami")["user"] == "author"

    source = f"hf:{REPO}@main"
    submission = arena("author", "submit", source, "--title", "By command", "--wait")["submission"]
    assert (submission["state"], submission["packages"]) == ("valid", 2)
    again = arena("author", "submit", source, "--title", "Again")
    assert again["error"]["code"] == "already_submitted"

    launch = ["run", "launch", submission["id"], "--challenge", CHALLENGE]
    assert arena("rival", *launch)["error"]["code"] == "not_yours"
    run = arena("author", *launch, "--wait")["run"]
    assert run["state"] == "scored"
    assert run["change_pp"] == pytest.approx((run["after"] - run["before"]) * 100)
    assert len(run["tasks"]) == 2
    assert run["weights_changed"] is True

    accept = ["review", "accept", run["id"], "--reason", "The numbers hold."]
    assert arena("author", *accept)["error"]["code"] == "not_editor"
    assert run["id"] in [r["id"] for r in arena("editor", "review", "list")["runs"]]
    assert arena("editor", *accept)["run"]["state"] == "accepted"

    rows = arena(None, "leaderboard", "--challenge", CHALLENGE)["rows"]
    row = next(row for row in rows if row["title"] == "By command")
    assert row["mean_change_pp"] == pytest.approx(run["change_pp"])
    assert (row["accepted"], row["scored"]) == (1, 1)
    assert _released(arena, submission["id"])["folder"].startswith("collections/")


def _released(arena: CommandLine, submission: str, seconds: float = 60) -> dict[str, Any]:
    """The entry of the commons, which is written soon after the verdict."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for entry in arena(None, "commons", "list")["collections"]:
            if entry["submission"] == submission:
                return dict(entry)
        time.sleep(0.5)
    raise AssertionError(f"{submission} is not in the commons")
