"""The worker's replays: while no run waits, the oracles of what was entered are proven."""

from __future__ import annotations

import logging
import platform
import re
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import docker
from docker.errors import DockerException

import arena
from arena.client import ArenaClient, RemoteError
from arena.errors import ArenaError
from arena.packages import Collection, TaskPackage
from arena.posttrain.faults import Cancelled, PlatformFault, RunFault
from arena.records import ReplayRow, SaidRow, VersionRow
from arena.runs.heartbeat import ReplayHeartbeat
from arena.runs.replays import ReplayLease, ReplayReport
from arena.runs.snapshot import fetch_collection
from arena.runs.telling import tell
from arena.runs.workfolders import WorkFolders
from arena.sandbox import BuildError, Caps, EngineError, Replay, Sandbox, replay
from arena.sources import SourceReader

log = logging.getLogger(__name__)

TRIES = 3
PAUSE_SECONDS = 60.0
_LOOK_UP_SECONDS = 0.5
_LINES, _LINE_CHARACTERS = 15, 200
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")

Rows = dict[str, ReplayRow]


class _Rest(NamedTuple):
    """Contents that met trouble are left alone until a time; after the last try, for good."""

    tries: int
    until: float


class Replayer:
    """Replays one content at a time, of which every package is tried in a container."""

    def __init__(
        self,
        client: ArenaClient,
        sources: SourceReader,
        folders: WorkFolders,
        jobs: int,
        stopping: threading.Event,
    ) -> None:
        self._client = client
        self._sources = sources
        self._folders = folders
        self._jobs = jobs
        self._stopping = stopping
        self._asking = secrets.token_hex(16)
        self._resting: dict[str, _Rest] = {}
        self._kept: dict[str, Rows] = {}
        """What was found before a content was given back: it goes on from there."""

    def work(self) -> bool:
        """Replays what has waited longest; False where nothing is to be replayed.

        Raises:
            ArenaError: the arena gave no answer.
        """
        now = time.monotonic()
        skip = [content for content, rest in self._resting.items() if rest.until > now]
        asked = {"lease": self._asking, "skip": skip[-500:]}
        answer = self._client.post("/worker/replays/lease", asked)
        if answer["lease"] is None:
            return False
        self._asking = secrets.token_hex(16)
        self._execute(ReplayLease.model_validate(answer["lease"]))
        return True

    def _execute(self, lease: ReplayLease) -> None:
        name = f"replay of {lease.collection[:12]}"
        log.info("%s (%s): leased", name, lease.submission)
        rows = self._kept.setdefault(lease.collection, {})
        try:
            total = self._replay(lease, rows)
            if len(rows) < total:
                log.info("%s: handed back after %d of %d: a run waits", name, len(rows), total)
                self._hand_back(lease)
                return
            self._report(lease, rows)
            log.info("%s: reported", name)
            self._resting.pop(lease.collection, None)
        except Cancelled:
            log.info("%s: given up", name)
            if self._stopping.is_set():
                self._hand_back(lease)
        except RunFault as exc:
            log.warning("%s: %s: %s", name, exc.code, exc.message)
            self._hand_back_for(lease, exc.message)
            return
        except Exception as exc:
            log.exception("%s met a fault", name)
            self._hand_back_for(lease, f"The worker met {type(exc).__name__}.")
        del self._kept[lease.collection]

    def _replay(self, lease: ReplayLease, rows: Rows) -> int:
        """Fills `rows` until every package has one, or a run waits; gives how many there are.

        Raises:
            Cancelled: the lease is lost, or the worker is being stopped.
            RunFault: the collection could not be had, or the engine failed.
        """
        with (
            self._folders.folder("replay") as folder,
            ReplayHeartbeat(self._client, lease, self._stopping) as life,
        ):
            collection = fetch_collection(self._sources, lease.source, lease.collection, folder)
            caps = Caps(**lease.caps.model_dump())
            try:
                # the lead ends after the sandbox, which ends what runs where this is cut short
                with ThreadPoolExecutor(1) as lead, Sandbox(jobs=self._jobs, caps=caps) as sandbox:
                    sandbox.sweep()
                    _Replaying(sandbox, life, rows).all(collection, lead)
            except EngineError as exc:
                raise PlatformFault("no_engine", str(exc)) from exc
            return len(collection.packages)

    def _report(self, lease: ReplayLease, rows: Rows) -> None:
        """Sends what was found; where the arena cannot take it now, it is kept for the next lease.

        Raises:
            RunFault: the arena did not take it.
        """
        report = ReplayReport(
            lease=lease.lease,
            collection=lease.collection,
            packages=list(rows.values()),
            software=_software(),
        )
        try:
            self._tell(lease, "report", report.model_dump_json().encode())
        except RemoteError as exc:
            if exc.remote_code == "lease_lost":
                raise Cancelled from exc
            if exc.remote_status != 503:
                rows.clear()  # the next try begins anew
            raise PlatformFault("not_taken", exc.message) from exc
        except ArenaError as exc:
            raise PlatformFault("not_taken", exc.message) from exc

    def _hand_back_for(self, lease: ReplayLease, trouble: str) -> None:
        """Frees the replay for what is nobody's doing; it is tried again after a pause."""
        tries = self._resting.get(lease.collection, _Rest(0, 0)).tries + 1
        again = tries < TRIES
        until = time.monotonic() + PAUSE_SECONDS if again else float("inf")
        self._resting[lease.collection] = _Rest(tries, until)
        self._hand_back(lease, trouble[:500], again)

    def _hand_back(
        self, lease: ReplayLease, trouble: str | None = None, again: bool = True
    ) -> None:
        body = {"lease": lease.lease, "trouble": trouble, "again": again}
        try:
            self._tell(lease, "hand-back", body)
        except ArenaError as exc:
            log.warning("replay of %s: not handed back: %s", lease.collection[:12], exc)

    def _tell(self, lease: ReplayLease, what: str, body: dict[str, Any] | bytes) -> None:
        """Tells the arena how a replay ended; late, it is taken where nobody else has it by then.

        Raises:
            ArenaError: it was not taken.
        """
        tell(
            self._client,
            f"/worker/replays/{lease.collection}/{what}",
            body,
            stopping=self._stopping,
            is_over=lambda: False,  # it beats no more, so only the answer says
        )


@dataclass
class _Replaying:
    """The packages of one content, tried in the sandbox's threads."""

    sandbox: Sandbox
    life: ReplayHeartbeat
    rows: Rows
    total: int = 0
    trouble: list[str] = field(default_factory=list)

    def all(self, collection: Collection, lead: ThreadPoolExecutor) -> None:
        """Tries each package that has no row yet, until none is left or a run waits.

        Raises:
            Cancelled: the lease is lost, or the worker is being stopped.
            PlatformFault: the engine failed.
        """
        self.total = len(collection.packages)
        self.life.count(len(self.rows), self.total)
        left = [package for package in collection.packages if package.name not in self.rows]
        done = lead.submit(self.sandbox.map, self._try, left)
        while not done.done() and not self.life.lost:
            wait([done], _LOOK_UP_SECONDS)
        if self.life.lost:
            raise Cancelled
        done.result()
        if self.trouble:
            raise PlatformFault("no_engine", self.trouble[0])

    def _try(self, package: TaskPackage) -> None:
        if self.trouble or not self.life.goes_on():
            return
        found = replay(self.sandbox, package)
        if found.verdict == "no engine":
            self.trouble.append(f"{package.name}: {found.reason}")
            return
        self.rows[package.name] = _row(package.name, found, self._image(package))
        self.life.count(len(self.rows), self.total)

    def _image(self, package: TaskPackage) -> str | None:
        try:
            return self.sandbox.build(package)  # known by now, so nothing is built
        except (BuildError, EngineError):
            return None


def _row(name: str, found: Replay, image: str | None) -> ReplayRow:
    return ReplayRow.model_validate(
        {
            "name": name,
            "verdict": found.verdict,
            "reason": found.reason[:1000],
            "oracle": found.oracle[0] if found.oracle else None,
            "untouched": found.untouched[0] if found.untouched else None,
            "seconds": round(found.seconds, 2),
            "image": image,
            "said": [
                SaidRow(who=who[:60], text=_end(text))
                for who, text in list(found.outputs.items())[-4:]
            ],
        }
    )


def _end(text: str) -> str:
    """The last lines of what was written, without colours, long ones cut."""
    lines = _COLOURS.sub("", text).rstrip().splitlines()[-_LINES:]
    return "\n".join(
        line if len(line) <= _LINE_CHARACTERS else line[: _LINE_CHARACTERS - 1] + "…"
        for line in lines
    )


def _software() -> list[VersionRow]:
    """What a verdict could depend on beside the image."""
    versions = {"python": platform.python_version(), "arena": arena.__version__}
    try:
        client = docker.from_env(timeout=5)
        try:
            versions["docker engine"] = str(client.version()["Version"])
        finally:
            client.close()
    except (DockerException, OSError):
        pass  # the engine was there a moment ago; a verdict is worth more than its version
    return [VersionRow(name=name, version=version) for name, version in versions.items()]
