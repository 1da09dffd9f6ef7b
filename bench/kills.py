"""Kills the app's side and the hub at random moments, and looks for what was acknowledged.

    python -m bench.kills [--points 500] [--seed 0]

Two processes write pairs of records to one store. At each point one of the three, a writer or the
hub, is killed with SIGKILL and started again. At the end a fresh process reads the store: each
acknowledged pair must be there once, and no pair by half.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from huggingface_hub import HfApi

from arena.budget import CommitBudget
from arena.ledger import Ledger
from arena.store import Store
from tests.hub import RunningHub, start_hub

REPO = "arena-bot/kills"
LONGEST = 0.6  # seconds that all three run between two kills


class Found(NamedTuple):
    """What came of it: all but `points`, `acknowledged` and `records` ought to be 0."""

    points: int
    acknowledged: int
    records: int
    lost: int
    half: int
    unreadable: int


@dataclass
class _Writer:
    process: subprocess.Popen[str]
    acknowledged: set[str]
    ready: threading.Event = field(default_factory=threading.Event)

    def listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            word, *ids = line.split()
            if word == "ready":
                self.ready.set()
            elif len(ids) == 2 and line.endswith("\n"):
                self.acknowledged.update(ids)


def kill_often(folder: Path, points: int, seed: int = 0) -> Found:
    """Kills `points` times; gives what a fresh reader finds."""
    chance = random.Random(seed)
    hub = start_hub(folder / "hub")
    acknowledged: set[str] = set()
    writers = [_start_writer(hub, folder / name, acknowledged) for name in ("one", "two")]
    for _ in range(points):
        for writer in writers:
            writer.ready.wait(60)
        time.sleep(chance.uniform(0, LONGEST))
        victim = chance.randrange(3)
        if victim == 2:
            hub.kill()
            hub = start_hub(folder / "hub", urlsplit(hub.url).port or 0)
        else:
            writers[victim].process.kill()
            writers[victim].process.wait()
            cache = folder / ("one", "two")[victim]
            writers[victim] = _start_writer(hub, cache, acknowledged)
    for writer in writers:
        writer.ready.wait(60)
        time.sleep(1)
        writer.process.kill()
        writer.process.wait()
    try:
        return _look(hub, folder / "fresh", acknowledged, points)
    finally:
        hub.kill()


def _start_writer(hub: RunningHub, cache: Path, acknowledged: set[str]) -> _Writer:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.writer", hub.url, REPO, str(cache)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    writer = _Writer(process, acknowledged)
    threading.Thread(target=writer.listen, daemon=True).start()
    return writer


def _look(hub: RunningHub, cache: Path, acknowledged: set[str], points: int) -> Found:
    store = Store(REPO, HfApi(endpoint=hub.url, token="hf_arena"), cache)
    ledger = Ledger(store, CommitBudget(1_000_000))
    ledger.open()
    ids = ledger.state.ids
    records = {record.id: record for record in _records(store)}
    seconds = [r for r in records.values() if r.reason.startswith("after ")]
    whole = {r.reason.removeprefix("after ") for r in seconds} | {r.id for r in seconds}
    unreadable = len(ledger.unreadable)
    ledger.close()
    return Found(
        points, len(acknowledged), len(ids), len(acknowledged - ids), len(ids ^ whole), unreadable
    )


def _records(store: Store):  # type: ignore[no-untyped-def]
    kept = store.read_kept()
    assert kept is not None
    return kept.records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = kill_often(Path(folder), arguments.points, arguments.seed)
    for name, value in found._asdict().items():
        print(f"{name:<14}{value:>8,}")
    print(f"{'minutes':<14}{(time.monotonic() - began) / 60:>8.1f}")
    sys.exit(1 if found.lost or found.half or found.unreadable else 0)


if __name__ == "__main__":
    main()
