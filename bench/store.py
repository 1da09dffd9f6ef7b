"""What the results store costs with many records in it, and what it does when the Hub fails.

    python -m bench.store size [--records 100000]    cold and warm start, memory, each page's data
    python -m bench.store faults                     the table of docs/reliability.md

Each start is a process of its own against a local hub; requests are counted at the client.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import huggingface_hub
from huggingface_hub import HfApi

import arena.ledger
from arena.budget import CommitBudget
from arena.errors import ArenaError
from arena.hubclient import bound_hub_calls
from arena.ledger import Ledger
from arena.records import ChallengeStateRecord, new_id
from arena.store import Store
from bench.records import publish
from leaderboard.ranking import Kept, leaderboard
from tests.hub import RunningHub, start_hub

ROOT = Path(__file__).parents[1]
REPO = "arena-bot/bench"
_COMMIT, _PREUPLOAD, _READ = "POST .*/commit/", "POST .*/preupload/", "GET /api/datasets/"
FAULTS: list[tuple[str, list[dict[str, Any]]]] = [
    ("409, another commit in progress", [{"kind": "refuse", "match": _COMMIT, "status": 409}]),
    ("412, another writer was first", [{"kind": "refuse", "match": _COMMIT, "status": 412}]),
    (
        "429 with Retry-After: 1",
        [{"kind": "refuse", "match": _COMMIT, "status": 429, "headers": {"Retry-After": "1"}}],
    ),
    ("500, nothing landed", [{"kind": "refuse", "match": _COMMIT, "status": 500}]),
    ("500, but the commit landed", [{"kind": "fail after", "match": _COMMIT, "status": 500}]),
    ("503 three times", [{"kind": "refuse", "match": _COMMIT, "status": 503, "times": 3}]),
    ("connection cut in the upload", [{"kind": "cut", "match": _COMMIT}]),
    ("connection cut after it landed", [{"kind": "cut after", "match": _COMMIT}]),
    ("connection cut before the commit", [{"kind": "cut", "match": _PREUPLOAD}]),
    ("no answer within the time-out", [{"kind": "hang", "match": _COMMIT, "seconds": 4}]),
    (
        "landed, then the store cannot be read",
        [
            {"kind": "cut after", "match": _COMMIT},
            {"kind": "refuse", "match": _READ, "status": 503, "times": 30},
        ],
    ),
    (
        "403, the token may not write any more",
        [{"kind": "refuse", "match": _COMMIT, "status": 403}],
    ),
    ("413, too large", [{"kind": "refuse", "match": _COMMIT, "status": 413}]),
    ("500 without end", [{"kind": "refuse", "match": _COMMIT, "status": 500, "times": 99}]),
]


def size(count: int) -> None:
    """Prints what a start and a page cost with `count` records."""
    with tempfile.TemporaryDirectory() as folder:
        hub = start_hub(Path(folder) / "hub")
        try:
            stored = publish(hub.api("arena"), REPO, count)
            print(f"{stored:,} records")
            for kind in ("cold", "warm"):
                command = [sys.executable, "-m", "bench.store", "open", hub.url, f"{folder}/data"]
                done = subprocess.run(
                    command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
                )
                found = json.loads(done.stdout)
                print(
                    f"{kind} start  {found['seconds']:6.1f} s  {found['requests']:4d} requests  "
                    f"{found['mb']:5.0f} MB (of it {found['before_mb']:.0f} MB without records)"
                )
            for name, milliseconds in found["pages"].items():
                print(f"  {name:<28}{milliseconds:8.1f} ms")
        finally:
            hub.kill()


def open_store(url: str, data: Path) -> None:
    """Opens the whole arena on the store and prints what it took, as JSON."""
    from arena.service import Arena
    from arena.web.site import SHOWN

    counted = _count_requests()
    settings = _settings(url, data)
    service = Arena(settings)
    before = _megabytes()
    began = time.monotonic()
    service.ledger.open()
    seconds = time.monotonic() - began
    gc.freeze()  # as app.py does
    requests, read = len(counted), service.read
    state, kept = service.ledger.state, Kept()
    pages: dict[str, Callable[[], object]] = {
        "front page": read.challenge_views,
        "submissions": lambda: read.submission_views()[:SHOWN],
        "one author's submissions": lambda: read.submission_views("author7")[:SHOWN],
        "one submission": lambda: read.submission_detail("sub_000077"),
        "runs": lambda: read.run_views()[:SHOWN],
        "one run": lambda: read.run_detail("run_000077"),
        "leaderboard": lambda: read.leaderboard("demo")[:SHOWN],
        "leaderboard, after a commit": lambda: leaderboard(state, "demo", 1, kept)[:SHOWN],
        "commons": lambda: read.commons()[:SHOWN],
    }
    timed = {name: _milliseconds(build) for name, build in pages.items()}
    found = {
        "seconds": seconds,
        "requests": requests,
        "before_mb": before,
        "mb": _megabytes(),
        "pages": timed,
    }
    print(json.dumps(found))
    service.ledger.close()


def faults() -> None:
    """Prints a table: what was injected, what the caller was told, what a fresh reader finds."""
    arena.ledger.ATTEMPTS = 5
    bound_hub_calls(httpx.Timeout(2))
    print("| fault | the caller is told | recorded | told and found agree |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        hub = start_hub(Path(folder) / "hub")
        try:
            for number, (name, injected) in enumerate(FAULTS):
                told, there = _try_fault(hub, Path(folder), f"{REPO}-{number}", injected)
                agree = (
                    "yes" if told == "outcome_unknown" or (told == "recorded") == there else "NO"
                )
                print(f"| {name} | {told} | {'once' if there else 'no'} | {agree} |")
        finally:
            hub.kill()


def _try_fault(
    hub: RunningHub, folder: Path, repo: str, injected: list[dict[str, Any]]
) -> tuple[str, bool]:
    ledger = _ledger(hub, repo, folder / repo / "one")
    record = ChallengeStateRecord(
        id=new_id("cst"), by="bench", challenge="demo", state="paused", reason="r"
    )
    hub.make_faults(*injected)
    try:
        ledger.transact(lambda state: [record])
        told = "recorded"
    except ArenaError as exc:
        told = exc.code
    finally:
        hub.make_faults()
        ledger.close()
    time.sleep(3 if injected[0]["kind"] == "hang" else 0)
    fresh = _ledger(hub, repo, folder / repo / "two")
    fresh.close()
    return told, record.id in fresh.state.ids


def _ledger(hub: RunningHub, repo: str, cache: Path) -> Ledger:
    store = Store(repo, HfApi(endpoint=hub.url, token="hf_arena"), cache)
    ledger = Ledger(store, CommitBudget(1_000_000))
    ledger.open()
    return ledger


def _settings(url: str, data: Path) -> Any:
    from arena.settings import Settings

    return Settings(
        hub_token="hf_arena",
        hub_endpoint=url,
        challenges=ROOT / "challenges",
        data=data,
        host="127.0.0.1",
        port=0,
        suite_key=b"k" * 32,
        results_repo=REPO,
        commons_repo=None,
        lease_seconds=60,
    )


def _count_requests() -> list[str]:
    """The requests that this process makes from now on, as they are made."""
    from huggingface_hub.utils import _http

    made: list[str] = []
    original = _http.hf_request_event_hook

    def count(request: httpx.Request) -> object:
        made.append(str(request.url))
        return original(request)

    _http.hf_request_event_hook = count
    return made


def _milliseconds(build: Callable[[], object]) -> float:
    build()
    times = []
    for _ in range(3):
        began = time.perf_counter()
        build()
        times.append(time.perf_counter() - began)
    return sorted(times)[1] * 1000


def _megabytes() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    sized = commands.add_parser("size")
    sized.add_argument("--records", type=int, default=100_000)
    commands.add_parser("faults")
    opened = commands.add_parser("open")
    opened.add_argument("hub")
    opened.add_argument("data", type=Path)
    arguments = parser.parse_args()
    huggingface_hub.constants.HF_HUB_DISABLE_XET = True  # the local hub has LFS alone
    if arguments.command == "size":
        size(arguments.records)
    elif arguments.command == "faults":
        faults()
    else:
        open_store(arguments.hub, arguments.data)


if __name__ == "__main__":
    main()
