"""A worker that follows a script: the real worker routes, no training."""

from __future__ import annotations

import json
import secrets
from typing import Any

from arena.client import ArenaClient
from arena.records import RunRecord
from arena.report import STAGES, StageName
from arena.runs.messages import Lease
from arena.runs.replays import ReplayLease
from tests.service.scripted import arms, replay_report, report


class ScriptedWorker:
    """Leases a run and moves it as the test asks."""

    def __init__(self, url: str) -> None:
        self._client = ArenaClient(url, "hf_worker")
        self._lease: Lease | None = None

    def ask(self) -> Lease | None:
        """Asks for work; being heard of makes it a worker that is alive."""
        body = {"lease": secrets.token_hex(16), "missing": None}
        answer = self._client.post("/worker/lease", body)["lease"]
        self._lease = Lease.model_validate(answer) if answer else None
        return self._lease

    def beat(self, stage: StageName, done: int = 0, total: int = 0) -> None:
        """Says how far a stage is."""
        self._say("heartbeat", stage=stage, done=done, total=total)

    def say(self, stage: StageName, *lines: str) -> None:
        """Says lines of a stage."""
        self._say("logs", stage=stage, first=0, lines=list(lines))

    def end(self, *stages: StageName) -> None:
        """Ends stages."""
        for stage in stages:
            self._say("stages", stage=stage, seconds=1.5)

    def report(self, before: float, after: float, gate_reason: str = "") -> None:
        """Ends every stage and reports a result."""
        lease = self._held()
        self.end(*STAGES)
        record = RunRecord.model_construct(
            id=lease.run,
            challenge_digest=lease.challenge_digest,
            recipe_digest=lease.recipe_digest,
            collection=lease.collection,
        )
        content = report(record, *arms(before, after))
        content["gates"][0]["reason"] = gate_reason
        self._client.post(
            f"/worker/runs/{lease.run}/report",
            json.dumps(content).encode(),
            headers={"Arena-Lease": lease.lease},
        )

    def ask_replay(self, submission: str) -> ReplayLease:
        """Leases the replay of a submission, whatever else waits for one."""
        others: list[str] = []
        while True:
            body = {"lease": secrets.token_hex(16), "skip": others}
            lease = ReplayLease.model_validate(
                self._client.post("/worker/replays/lease", body)["lease"]
            )
            if lease.submission == submission:
                return lease
            others.append(lease.collection)

    def beat_replay(self, lease: ReplayLease, done: int) -> None:
        """Says how far a replay is."""
        body = {"lease": lease.lease, "done": done, "total": 4}
        self._client.post(f"/worker/replays/{lease.collection}/heartbeat", body)

    def hand_back(self, lease: ReplayLease, trouble: str) -> None:
        """Gives a replay back for trouble."""
        body = {"lease": lease.lease, "trouble": trouble}
        self._client.post(f"/worker/replays/{lease.collection}/hand-back", body)

    def report_replay(
        self, lease: ReplayLease, names: list[str], changes: dict[str, dict[str, Any]]
    ) -> None:
        """Reports a replay in which all is proven but for the changed."""
        report = replay_report(lease, names, changes)
        self._client.post(f"/worker/replays/{lease.collection}/report", json.dumps(report).encode())

    def _say(self, what: str, **body: object) -> None:
        lease = self._held()
        self._client.post(f"/worker/runs/{lease.run}/{what}", {"lease": lease.lease, **body})

    def _held(self) -> Lease:
        assert self._lease is not None
        return self._lease
