"""Kills the app and the hub at random moments while clients write through the app's API.

    python -m bench.appkills [--points 50] [--seed 0]

Each client enters one collection, withdraws it, and enters it again, without end. Each call has an
Idempotency-Key of its own and is made until it is answered. At each point the app, or one time in
four the hub, is killed with SIGKILL and started again. At the end each client's last submission has
to be validated, and a fresh process reads the store: what was answered is there, and nothing else.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import huggingface_hub
from huggingface_hub import HfApi

from arena.budget import CommitBudget
from arena.client import ArenaClient, RemoteError
from arena.errors import ArenaError
from arena.ledger import Ledger
from arena.store import Store
from bench.load import STORE, app_settings, publish_demo, run_app
from tests.collections import upload, write_collection
from tests.hub import RunningHub, start_hub

CLIENTS = 4
LONGEST = 4.0  # seconds that all is up between two kills
HUB_SHARE = 0.25
PER_HOUR = 10_000  # commits: the more happens, the more can break
PATIENCE = 180.0


class Found(NamedTuple):
    """What came of it: all but `points` and `answered` ought to be 0."""

    points: int
    answered: int
    lost: int
    unasked: int
    refused: int
    not_validated: int
    unreadable: int


@dataclass
class Client:
    """One author's way through: what it was told is true."""

    url: str
    source: str
    ending: threading.Event
    entered: list[str] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def work(self) -> None:
        """Enters and withdraws until it is time to end; what it entered last stays."""
        body = {"source": self.source, "title": "Entered again"}
        while True:
            answer = self._call("/submissions", body)
            if answer is None:
                return
            self.entered.append(answer["submission"]["id"])
            if self.ending.is_set():
                return
            if self._call(f"/submissions/{self.entered[-1]}:withdraw", {"reason": "r"}) is None:
                return
            self.withdrawn.append(self.entered[-1])

    def _call(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """Calls until it is answered; None where it is refused."""
        arena, key = ArenaClient(self.url, "hf_author"), {"Idempotency-Key": uuid4().hex}
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return arena.post(path, body, key)
            except ArenaError as exc:
                final = isinstance(exc, RemoteError) and exc.remote_status < 500
                if final or time.monotonic() > deadline:
                    self.refused.append(str(exc))
                    return None
            time.sleep(0.1)


def kill_often(folder: Path, points: int, seed: int = 0) -> Found:
    """Kills `points` times while clients write; gives what a fresh reader finds."""
    chance, ending = random.Random(seed), threading.Event()
    hub = start_hub(folder / "hub")
    publish_demo(hub, folder)
    env, url = app_settings(hub, folder, PER_HOUR)
    app = run_app(env, url, folder)
    clients = [Client(url, source, ending) for source in _collections(hub, folder)]
    try:
        with ThreadPoolExecutor(CLIENTS) as pool:
            working = [pool.submit(client.work) for client in clients]
            try:
                for _ in range(points):
                    time.sleep(chance.uniform(0, LONGEST))
                    if chance.random() < HUB_SHARE:
                        hub.kill()
                        hub = start_hub(folder / "hub", urlsplit(hub.url).port or 0)
                    else:
                        app.popen.kill()
                        app.popen.wait()
                        app = run_app(env, url, folder)
            finally:
                ending.set()
            for each in working:
                each.result()
        not_validated = _count_not_validated(url, clients)
        app.popen.kill()
        app.popen.wait()
        return _look(hub, folder / "fresh", clients, points, not_validated)
    finally:
        app.popen.kill()
        hub.kill()


def _collections(hub: RunningHub, folder: Path) -> list[str]:
    """A collection of one task for each client."""
    sources = []
    for number in range(CLIENTS):
        root = write_collection(folder / f"c{number}", 1, f"word{number}x")
        commit = upload(hub.api("author"), f"author/of-{number}", root)
        sources.append(f"hf:author/of-{number}@{commit}")
    return sources


def _count_not_validated(url: str, clients: Sequence[Client]) -> int:
    """How many of the last submissions do not become valid."""
    arena, deadline = ArenaClient(url, None), time.monotonic() + PATIENCE
    left = [client.entered[-1] for client in clients if client.entered]
    while left and time.monotonic() < deadline:
        time.sleep(0.2)
        left = [s for s in left if arena.get(f"/submissions/{s}")["submission"]["state"] != "valid"]
    return len(left)


def _look(
    hub: RunningHub, cache: Path, clients: Sequence[Client], points: int, not_validated: int
) -> Found:
    ledger = Ledger(
        Store(STORE, HfApi(endpoint=hub.url, token="hf_arena"), cache), CommitBudget(PER_HOUR)
    )
    ledger.open()
    submissions, unreadable = ledger.state.submissions, len(ledger.unreadable)
    ledger.close()
    there = {(s, "entered") for s in submissions}
    there |= {(name, "withdrawn") for name, s in submissions.items() if s.withdrawal}
    told = {(s, "entered") for client in clients for s in client.entered}
    told |= {(s, "withdrawn") for client in clients for s in client.withdrawn}
    refused = [text for client in clients for text in client.refused]
    for text in refused:
        print(f"refused: {text}", file=sys.stderr)
    return Found(
        points=points,
        answered=len(told),
        lost=len(told - there),
        unasked=len(there - told),
        refused=len(refused),
        not_validated=not_validated,
        unreadable=unreadable,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--points", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    huggingface_hub.constants.HF_HUB_DISABLE_XET = True  # the local hub has LFS alone
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = kill_often(Path(folder), arguments.points, arguments.seed)
    for name, value in found._asdict().items():
        print(f"{name:<14}{value:>8,}")
    print(f"{'minutes':<14}{(time.monotonic() - began) / 60:>8.1f}")
    sys.exit(1 if any(found[2:]) else 0)


if __name__ == "__main__":
    main()
