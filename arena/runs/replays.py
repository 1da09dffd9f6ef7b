"""Replays by the workers: who replays which content now, and what became of it.

What is replayed is a content, by its digest: entered again, it is proven already. Leases and
progress stay in memory; the outcome is a record.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

from arena.challenges import Challenges, SandboxCaps
from arena.errors import BadReplay, ReplayLeaseLost
from arena.ledger import Ledger
from arena.records import AnyRecord, ReplayRecord, ReplayRow, ReplayVerdict, VersionRow, new_id
from arena.runs.launch import lacking
from arena.runs.messages import Message
from arena.runs.queue import RunQueue
from arena.state import State, Submission

SOLVED = 1.0
MAX_REPLAY_BYTES = 16 * 1024 * 1024


class ReadyToReplay(Message):
    """A worker for which no run waits asks for a replay; `skip` names contents it leaves for now.

    It names the lease itself, so that asking again after a lost answer gets the same replay.
    """

    lease: str = Field(pattern=r"^[0-9a-f]{32}$")
    skip: list[str] = Field(default=[], max_length=500)


class ReplayBeat(Message):
    """A sign of life within a replay: how many packages are done."""

    lease: str
    done: int = Field(ge=0)
    total: int = Field(ge=0)


class HandBack(Message):
    """A replay given back: a run goes first, or something failed that is not the collection's.

    `trouble` says what failed; `again` whether this worker tries it again.
    """

    lease: str
    trouble: str | None = Field(default=None, max_length=500)
    again: bool = True


class ReplayReport(Message):
    """What came out for each package of a content."""

    lease: str
    collection: str
    packages: list[ReplayRow]
    software: list[VersionRow] = Field(max_length=20)


class ReplayLease(BaseModel):
    """What a worker needs for a replay."""

    lease: str
    submission: str
    source: str
    collection: str
    caps: SandboxCaps
    heartbeat_seconds: float


class Trouble(NamedTuple):
    """What kept a worker from the last replay of a content, and whether it tries again."""

    what: str
    again: bool


@dataclass
class LiveReplay:
    """A replay under way, as its worker last told."""

    worker: str
    lease: str
    done: int = 0
    total: int = 0
    heard: float = field(default_factory=time.monotonic)


class ReplayQueue:
    """Gives contents to workers and takes what they send back."""

    def __init__(
        self,
        ledger: Ledger,
        challenges: Challenges,
        lease_seconds: float,
        is_open: Callable[[State, str], bool],
        runs: RunQueue,
    ) -> None:
        self._ledger = ledger
        self._challenges = challenges
        self._lease_seconds = lease_seconds
        self._is_open = is_open
        self._runs = runs
        self._lock = threading.Lock()
        self._live: dict[str, LiveReplay] = {}
        self._troubles: dict[str, Trouble] = {}

    def live(self, collection: str) -> LiveReplay | None:
        """The replay of a content that is under way; None where none is, or its worker is lost."""
        found = self._live.get(collection)
        lost = found is None or time.monotonic() - found.heard > self._lease_seconds
        return None if lost else found

    def waits_for(self, collection: str) -> str:
        """What the replay of a content waits for, in plain words."""
        trouble = self._troubles.get(collection)
        if not self._runs.workers():
            return "Waiting for a replay: no worker is connected now."
        if missing := lacking(self._runs):
            return f"The replay waits for the engine: the worker reports “{missing}”."
        if trouble:
            when = "soon" if trouble.again else "when the worker is started anew"
            return (
                f"The replay waits for the engine and is tried again {when}. "
                f"The last try met trouble: {trouble.what}"
            )
        return "Waiting for a replay: a worker is connected; runs go first, then replays in turn."

    def lease(self, worker: str, ready: ReadyToReplay) -> ReplayLease | None:
        """The content that has waited longest, for `worker`; None where there is none for it."""
        state = self._ledger.state
        caps = self._caps(state)
        with self._lock:
            waiting = state.unreplayed()
            held = (c for c in waiting if self._holds(c, worker, ready.lease))
            free = (c for c in waiting if c not in ready.skip and self.live(c) is None)
            collection = next(held, None) or next(free, None)
            if collection is None or caps is None:
                return None
            self._troubles.pop(collection, None)
            self._live[collection] = LiveReplay(worker, ready.lease)
        record = waiting[collection].record
        return ReplayLease(
            lease=ready.lease,
            submission=record.id,
            source=record.source,
            collection=collection,
            caps=caps,
            heartbeat_seconds=self._lease_seconds / 4,
        )

    def beat(self, worker: str, collection: str, beat: ReplayBeat) -> bool:
        """Takes a sign of life. Whether to go on: not where a run waits for a worker.

        Raises:
            ReplayLeaseLost: another worker has the replay, or it is no longer due: stop.
        """
        live = self._held_now(worker, collection, beat.lease)
        live.done, live.total = beat.done, beat.total
        self._runs.heard_of(worker, None)
        return not self._runs.is_waited_for()

    def hand_back(self, worker: str, collection: str, back: HandBack) -> None:
        """Frees a content for the next worker, and remembers what stopped this one.

        Raises:
            ReplayLeaseLost: it is not this worker's any more.
        """
        self._held_now(worker, collection, back.lease)
        with self._lock:
            self._live.pop(collection, None)
            if back.trouble:
                self._troubles[collection] = Trouble(back.trouble, back.again)

    def report(self, worker: str, collection: str, content: bytes) -> None:
        """Records what came out. Sending it again after a lost answer changes nothing.

        Raises:
            BadReplay: it is not this content's, not whole, or contradicts itself.
            ReplayLeaseLost: another worker has the replay, or it is no longer due.
        """
        report = _parsed(content, collection)
        request = hashlib.sha256(f"{worker}\0replay\0{report.lease}".encode()).hexdigest()

        def decide(state: State) -> list[AnyRecord]:
            if request in state.requests:
                return []
            self._held(state, worker, collection, report.lease)
            submission = state.unreplayed()[collection]
            for problem in _problems(report, submission):
                raise BadReplay(collection=collection, problem=problem)
            record = ReplayRecord(
                id=new_id(ReplayRecord.prefix),
                by=worker,
                request=request,
                submission=submission.record.id,
                collection=collection,
                packages=sorted(report.packages, key=lambda row: row.name),
                software=report.software,
            )
            return [record]

        self._ledger.transact(decide)
        with self._lock:
            self._live.pop(collection, None)

    def _caps(self, state: State) -> SandboxCaps | None:
        """The most that an open challenge gives to training tasks; where none is open, any."""
        every = self._challenges.challenges
        opened = [name for name in every if self._is_open(state, name)]
        return self._challenges.training_sandbox(opened or every)

    def _held_now(self, worker: str, collection: str, lease: str) -> LiveReplay:
        """`_held` by a state that another process's validation is in too."""
        self._ledger.require(lambda state: _require_due(state, collection))
        return self._held(self._ledger.state, worker, collection, lease)

    def _held(self, state: State, worker: str, collection: str, lease: str) -> LiveReplay:
        """The worker's replay, just heard of; one that nobody holds is its own again.

        So a worker goes on after it, or the arena, was out of reach or started anew.
        """
        _require_due(state, collection)
        with self._lock:
            live = self.live(collection)
            if live is None:
                live = self._live[collection] = LiveReplay(worker, lease)
            elif not self._holds(collection, worker, lease):
                why = f"{live.worker} has it under another lease"
                raise ReplayLeaseLost(collection=collection[:64], why=why)
            live.heard = time.monotonic()
            return live

    def _holds(self, collection: str, worker: str, lease: str) -> bool:
        live = self.live(collection)
        return live is not None and (live.worker, live.lease) == (worker, lease)


def _require_due(state: State, collection: str) -> None:
    if collection not in state.unreplayed():
        raise ReplayLeaseLost(collection=collection[:64], why="no replay of it is due")


def verdict_of(row: ReplayRow) -> ReplayVerdict:
    """The verdict that a package's rewards come to.

    Where there is none at all, the worker alone knows whether an image was built.
    """
    if row.oracle is None and row.untouched is None and row.verdict == "not built":
        return "not built"
    if row.oracle is None or row.untouched is None:
        return "no reward"
    if row.oracle < SOLVED:
        return "oracle fails"
    return "untouched scores" if row.untouched >= SOLVED else "proven"


def _parsed(content: bytes, collection: str) -> ReplayReport:
    try:
        report = ReplayReport.model_validate_json(content)
    except ValidationError as exc:
        first = exc.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        problem = f"{place}: {first['msg']}"
        raise BadReplay(collection=collection[:64], problem=problem) from exc
    if report.collection != collection:
        raise BadReplay(
            collection=collection[:64], problem=f"it is of the content {report.collection[:64]!r}"
        )
    return report


def _problems(report: ReplayReport, submission: Submission) -> Iterator[str]:
    """What is wrong: each package stands once, with the verdict that its rewards come to."""
    assert submission.validation is not None
    expected = Counter(package.name for package in submission.validation.packages)
    reported = Counter(row.name for row in report.packages)
    for name in reported - expected:
        yield f"{name[:80]!r} is no package of it, or stands twice"
    for name in expected - reported:
        yield f"{name!r} is missing"
    for row in report.packages:
        if row.verdict != (found := verdict_of(row)):
            yield f"{row.name[:80]!r} is said to be {row.verdict!r}, and its rewards say {found!r}"
        if (row.verdict == "proven") == bool(row.reason):
            yield f"{row.name[:80]!r} has a reason where it is not proven, and only there"
