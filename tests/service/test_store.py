"""The store is a dataset that anybody reads with `load_dataset`, whatever is null."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from arena.identity import Identity
from arena.records import KINDS
from arena.runs.messages import Failure
from arena.service import Arena
from tests.hub import RunningHub
from tests.service.conftest import ROOT, settled, wait_for
from tests.service.scripted import leased, ready_to_replay, replay_report, scored

READ = """
import json, sys
from datasets import load_dataset
found = {}
for kind in sys.argv[2:]:
    rows = load_dataset(sys.argv[1], kind, split="train")
    found[kind] = {"seqs": rows["seq"][:], "columns": rows.column_names, "first": rows[0]}
print(json.dumps(found))
"""


def test_every_kind_loads_with_its_declared_columns(
    arena: Arena,
    hub: RunningHub,
    who: Callable[[str], Identity],
    collection: Callable[..., str],
    valid: str,
    tmp_path: Path,
) -> None:
    author, editor = who("author"), who("editor")
    refused = arena.launch(author, valid, "demo").id
    failure = Failure(lease=leased(arena).lease, fault="platform", code="x", reason="y")
    arena.queue.fail("arena-worker", refused, failure)
    run = arena.launch(author, valid, "demo").id
    scored(arena, run)
    lease = arena.replays.lease("arena-worker", ready_to_replay())
    assert lease is not None
    packages = [package.name for package in arena.read.submission_detail(valid).package_rows]
    proven = json.dumps(replay_report(lease, packages)).encode()
    arena.replays.report("arena-worker", lease.collection, proven)
    arena.review(editor, run, "accepted", "Fine.")
    arena.set_challenge_state(editor, "demo", "paused", "Done.")
    wait_for(lambda: arena.read.run_detail(run).release)
    bad = arena.submit(author, collection(files={"submission.yaml": "x: [\n"}), "T").id
    settled(arena, bad)
    arena.settle_claim(editor, valid, "rival", "Theirs.")
    arena.withdraw(who("rival"), valid, "Done.")
    repo = arena.settings.results_repo
    done = subprocess.run(
        [sys.executable, "-c", READ, str(repo), *KINDS],
        env=os.environ
        | {
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(tmp_path),
            "HF_HUB_DISABLE_XET": "1",
            "HF_TOKEN": "hf_rival",
        },
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    seqs = sorted(seq for kind in found.values() for seq in kind["seqs"])
    assert seqs == list(range(1, arena.ledger.state.seq + 1))
    for kind, model in KINDS.items():
        names = {field.alias or name for name, field in model.model_fields.items()}
        assert set(found[kind]["columns"]) == names
    assert found["submission"]["first"]["request"] is None
    assert found["report"]["first"]["change_pp"] == 50
    assert found["replay"]["first"]["packages"][0]["said"] == []
