"""What a worker would send: a report with given rewards."""

import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.records import RunRecord
from arena.runs.messages import Lease, Ready
from arena.runs.replays import ReadyToReplay, ReplayLease
from arena.runs.worker import Worker, WorkerSettings
from arena.service import Arena
from arena.settings import Settings

DOMAINS = ("software-engineering", "cybersecurity")


def report(
    run: RunRecord,
    before: Sequence[Sequence[float | None]],
    after: Sequence[Sequence[float | None]],
) -> dict[str, Any]:
    """A report of `run`: per arm, per task, the trials' rewards (None: missing)."""
    trials = [
        {
            "task": f"{number:016x}",
            "domain": DOMAINS[number % 2],
            "arm": arm,
            "trial": trial,
            "reward": reward,
        }
        for arm, tasks in (("before", before), ("after", after))
        for number, rewards in enumerate(tasks)
        for trial, reward in enumerate(rewards)
    ]
    return {
        "run": run.id,
        "seed": 0,
        "stages": [{"stage": "gate", "seconds": 1.0}],
        "trials": trials,
        "gates": [{"package": "p", "ok": True, "oracle": 1.0, "untouched": 0.0}],
        "training": {
            "demonstrations": 2,
            "sft_steps": 1,
            "grpo_steps": 1,
            "grpo_groups_with_spread": 1,
            "reward_curve": [{"step": 1, "reward": 0.5}],
            "weights_before": "a",
            "weights_after": "b",
        },
        "provenance": {
            "challenge_sha256": run.challenge_digest,
            "recipe_sha256": run.recipe_digest,
            "collection_sha256": run.collection,
        },
        "software": {"torch": "2.13.0"},
    }


def arms(before: float, after: float, tasks: int = 4, trials: int = 16) -> tuple[Any, Any]:
    """Two arms in which the given share of each task's trials passes."""

    def arm(share: float) -> list[list[float]]:
        passed = round(share * trials)
        return [[1.0] * passed + [0.0] * (trials - passed) for _ in range(tasks)]

    return arm(before), arm(after)


def worker_of(url: str, settings: Settings, data: Path) -> Worker:
    """A real worker of the arena at `url`, which does nothing by itself."""
    return Worker(
        WorkerSettings(
            arena_url=url,
            hub_endpoint=settings.hub_endpoint,
            hub_token="hf_worker",
            challenges=settings.challenges,
            data=data,
            suite_key=settings.suite_key,
            jobs=1,
        )
    )


def ready(missing: str | None = None) -> Ready:
    """A worker's question for work, under a lease of its own."""
    return Ready(lease=secrets.token_hex(16), missing=missing)


def leased(arena: Arena) -> Lease:
    """The next run, leased by the worker."""
    lease = arena.queue.lease("arena-worker", ready())
    assert lease is not None
    return lease


def scored(arena: Arena, run: str, before: float = 0.25, after: float = 0.75) -> None:
    """Has the queue's next run, which must be `run`, scored."""
    lease = leased(arena)
    assert lease.run == run
    record = arena.ledger.state.runs[run].record
    content = json.dumps(report(record, *arms(before, after))).encode()
    arena.queue.report("arena-worker", run, lease.lease, content)


def ready_to_replay(*skip: str) -> ReadyToReplay:
    """A worker's question for a replay, under a lease of its own."""
    return ReadyToReplay(lease=secrets.token_hex(16), skip=list(skip))


def replay_row(name: str, **changes: Any) -> dict[str, Any]:
    """A proven package, with some of it changed."""
    proven = {
        "name": name,
        "verdict": "proven",
        "reason": "",
        "oracle": 1.0,
        "untouched": 0.0,
        "seconds": 0.5,
        "image": "sha256:" + "0" * 64,
        "said": [],
    }
    return proven | changes


def replay_report(
    lease: ReplayLease, names: Sequence[str], changes: dict[str, dict[str, Any]] | None = None
) -> dict[str, Any]:
    """What a worker sends of a replay: all proven, but for the changed."""
    changes = changes or {}
    return {
        "lease": lease.lease,
        "collection": lease.collection,
        "packages": [replay_row(name, **changes.get(name, {})) for name in names],
        "software": [{"name": "docker engine", "version": "28.1"}],
    }
