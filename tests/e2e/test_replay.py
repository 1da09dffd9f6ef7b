"""What is entered is replayed by itself, in real containers; a run goes first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi

from arena.client import ArenaClient
from local.stack import Stack
from tests.collections import FILES, upload, write_collection, write_package
from tests.e2e.conftest import CHALLENGE
from tests.e2e.test_interruptions import valid_submission, wait_for
from tests.e2e.test_six_steps_cli import CommandLine

pytestmark = pytest.mark.docker


def enter(stack: Stack, arena: ArenaClient, repo: str, folder: Path) -> str:
    """Publishes a folder and enters it; gives its valid submission's id."""
    hub = HfApi(endpoint=stack.options.hub_url, token="hf_author")
    return valid_submission(arena, f"hf:{repo}@{upload(hub, repo, folder)}")


def replay_of(arena: ArenaClient, submission: str) -> dict[str, Any]:
    found: dict[str, Any] = arena.get(f"/submissions/{submission}")["submission"]["replay"]
    return found


def test_what_is_entered_is_replayed_by_itself(stack: Stack, tmp_path: Path) -> None:
    arena = ArenaClient(stack.options.url, "hf_author")
    write_package(tmp_path / "sound")
    spoiled: dict[str, dict[str, str | None]] = {
        "failing": {"oracle/solve.sh": "#!/bin/sh\nprintf '\\033[31mno apple\\n'\nexit 3\n"},
        "solved": {"verifier/test.sh": "#!/bin/sh\n[ -e /root/seed.txt ] && r=1 || r=0\necho $r > /logs/verifier/reward.txt\n"},
        "silent": {"verifier/test.sh": FILES["verifier/test.sh"].replace("echo $r", "exit 4\necho $r")},
        "unbuilt": {"environment/Dockerfile": "FROM busybox:1.35.0\nCOPY seed.txt /root/\nRUN cat /nowhere\n"},
    }  # fmt: skip
    for name, changes in spoiled.items():
        write_package(tmp_path / name, changes)
    submission = enter(stack, arena, "author/replayed", tmp_path)
    done = wait_for(lambda: (r := replay_of(arena, submission))["state"] == "done" and r)
    assert (done["text"], done["by"]) == ("1 of 5 oracles proven", "arena-worker")
    rows = {row["name"]: row for row in done["packages"]}
    assert {name: (r["verdict"], r["oracle"], r["untouched"]) for name, r in rows.items()} == {
        "sound": ("proven", 1.0, 0.0),
        "failing": ("oracle fails", 0.0, 0.0),
        "solved": ("untouched scores", 1.0, 1.0),
        "silent": ("no reward", None, None),
        "unbuilt": ("not built", None, None),
    }
    assert rows["failing"]["said"][0] == {"who": "oracle (exit 3)", "text": "no apple"}
    assert "/nowhere" in rows["unbuilt"]["said"][0]["text"]
    assert rows["sound"]["image"].startswith("sha256:")
    assert rows["unbuilt"]["image"] is None
    assert {"docker engine", "arena", "python"} <= {v["name"] for v in done["software"]}
    shown = CommandLine(stack)("author", "status", submission)
    assert shown["submission"]["replay"] == done, "the command line says what REST says"


def test_a_run_goes_first_and_the_replay_goes_on_after_it(stack: Stack, tmp_path: Path) -> None:
    arena = ArenaClient(stack.options.url, "hf_author")
    write_collection(tmp_path, 12, "pear")
    for solve in tmp_path.glob("*/oracle/solve.sh"):
        solve.write_text(solve.read_text().replace("#!/bin/sh\n", "#!/bin/sh\nsleep 3\n"))
    submission = enter(stack, arena, "author/long", tmp_path)
    wait_for(lambda: replay_of(arena, submission)["state"] == "running")
    body = {"submission": submission, "challenge": CHALLENGE}
    run = f"/runs/{arena.post('/runs:launch', body)['run']['id']}"
    wait_for(lambda: arena.get(run)["run"]["state"] == "running")
    assert replay_of(arena, submission)["state"] == "waiting"
    arena.post(f"{run}:cancel", {"reason": "It was seen to go first."})
    done = wait_for(lambda: (r := replay_of(arena, submission))["state"] == "done" and r)
    assert (done["proven"], done["total"]) == (12, 12)
