"""A worker that follows a script: the real worker routes, no training."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256

from arena.client import ArenaClient
from arena.report import STAGES, StageName
from arena.runs.queue import Lease

TASKS = {sha256(f"task-{n}".encode()).hexdigest()[:16]: n for n in range(4)}


@dataclass
class ScriptedWorker:
    """Leases one run and moves it as the test asks."""

    client: ArenaClient
    trials: int
    held: Lease | None = None

    @property
    def run(self) -> Lease:
        assert self.held is not None
        return self.held

    def ready(self, missing: str | None = None) -> Lease | None:
        """Asks for work."""
        answer = self.client.post("/worker/lease", {"missing": missing})["lease"]
        self.held = Lease.model_validate(answer) if answer else None
        return self.held

    def beat(self, stage: StageName, done: int = 0, total: int = 0) -> None:
        body = {"lease": self.run.lease, "stage": stage, "done": done, "total": total}
        self.client.post(f"/worker/runs/{self.run.run}/heartbeat", body)

    def end(self, stage: StageName, seconds: float = 1.5) -> None:
        body = {"lease": self.run.lease, "stage": stage, "seconds": seconds}
        self.client.post(f"/worker/runs/{self.run.run}/stages", body)

    def fail(self, fault: str, code: str, reason: str) -> None:
        body = {"lease": self.run.lease, "fault": fault, "code": code, "reason": reason}
        self.client.post(f"/worker/runs/{self.run.run}/failure", body)

    def finish(self, gate_reason: str = "", already: tuple[StageName, ...] = ()) -> None:
        """Ends the stages that are left, and reports: 25 % before, 50 % after."""
        for stage in STAGES:
            if stage not in already:
                self.end(stage)
        self.client.post(
            f"/worker/runs/{self.run.run}/report",
            json.dumps(self._report(gate_reason)).encode(),
            headers={"Arena-Lease": self.run.lease},
        )

    def _report(self, gate_reason: str) -> dict[str, object]:
        passed = {"before": self.trials // 4, "after": self.trials // 2}
        return {
            "run": self.run.run,
            "seed": 0,
            "stages": [{"stage": stage, "seconds": 1.5} for stage in STAGES],
            "trials": [
                {
                    "task": task,
                    "domain": "software-engineering" if number % 2 else "finance-economics",
                    "arm": arm,
                    "trial": trial,
                    "reward": float(trial < count + (number if arm == "after" else 0)),
                }
                for task, number in TASKS.items()
                for arm, count in passed.items()
                for trial in range(self.trials)
            ],
            "gates": [
                {"package": "a-task", "ok": True, "oracle": 1.0, "untouched": 0.0},
                {
                    "package": "b-task",
                    "ok": False,
                    "oracle": 0.0,
                    "untouched": 0.0,
                    "reason": gate_reason,
                },
            ],
            "training": {
                "demonstrations": 12,
                "sft_steps": 3,
                "grpo_steps": 4,
                "grpo_groups_with_spread": 4,
                "reward_curve": [{"step": n, "reward": 0.2 + 0.15 * n} for n in range(5)],
                "weights_before": "a" * 64,
                "weights_after": "b" * 64,
            },
            "provenance": {
                "challenge_sha256": self.run.challenge_digest,
                "recipe_sha256": self.run.recipe_digest,
                "collection_sha256": self.run.collection,
            },
            "software": {"python": "3.11"},
        }
