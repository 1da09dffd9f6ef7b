"""The worker: leases runs from the arena, executes them, reports; replays while no run waits.

What it needs of the machine is a Docker engine and the trainer's libraries. What it may say of a
stage that touches the suite are counts.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from docker.errors import DockerException
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError
from requests.exceptions import RequestException

from arena.challenges import Challenge, Challenges, Recipe, load_challenges
from arena.client import ArenaClient, RemoteError
from arena.errors import ArenaError
from arena.posttrain.checkpoints import sweep
from arena.posttrain.events import StageLog
from arena.posttrain.faults import Cancelled, PlatformFault, RunFault
from arena.posttrain.machine import what_recipe_lacks
from arena.posttrain.run import RunInputs, execute
from arena.posttrain.teacher import Endpoint
from arena.report import Report
from arena.runs.heartbeat import FINAL_MESSAGES, OVER, Heartbeat
from arena.runs.messages import WORKER_STOPPED, Lease
from arena.runs.replayer import Replayer
from arena.runs.snapshot import fetch_collection
from arena.runs.telling import is_refusal, tell
from arena.runs.workfolders import WorkFolders
from arena.sandbox import Caps, EngineError, NoDockerCommand, Sandbox
from arena.sandbox.builder import docker_command
from arena.sandbox.connection import connect, engine_address
from arena.settings import GitHubSettings, SettingsError, image_cache_bytes, suite_key
from arena.sources import open_sources

log = logging.getLogger(__name__)

POLL_SECONDS = 2.0


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker needs to know; the token and the key are never logged."""

    arena_url: str
    hub_endpoint: str
    hub_token: str
    challenges: Path
    data: Path
    suite_key: bytes
    jobs: int
    github: GitHubSettings = field(default_factory=GitHubSettings)
    teacher: Endpoint | None = None

    @classmethod
    def from_env(cls, env: Mapping[str, str], arena_url: str, token: str) -> WorkerSettings:
        """Reads a worker's settings.

        Raises:
            SettingsError: the suite's key is missing.
        """
        return cls(
            arena_url=arena_url,
            hub_endpoint=env.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/"),
            hub_token=token,
            challenges=Path(env.get("ARENA_CHALLENGES", "challenges")),
            data=Path(env.get("ARENA_WORKER_DATA", "worker-data")),
            suite_key=suite_key(env),
            jobs=int(env.get("ARENA_JOBS", "4")),
            github=GitHubSettings.from_env(env),
            teacher=_teacher(env),
        )

    @property
    def checkpoints(self) -> Path:
        """A folder for each run that another worker on this machine may take up again."""
        return self.data / "checkpoints"

    def __repr__(self) -> str:
        return f"WorkerSettings(arena_url={self.arena_url!r})"


def _teacher(env: Mapping[str, str]) -> Endpoint | None:
    """The teacher of recipes that have one, by an OpenAI-compatible endpoint.

    Raises:
        SettingsError: it is no address.
    """
    url = env.get("ARENA_TEACHER_URL")
    if url and not url.startswith(("https://", "http://")):
        raise SettingsError(f"ARENA_TEACHER_URL is an address such as https://host/v1: {url!r}")
    return Endpoint(url, env.get("ARENA_TEACHER_KEY")) if url else None


class Worker:
    """One worker: one run, or one replay, at a time."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._client = ArenaClient(settings.arena_url, settings.hub_token)
        self._challenges: Challenges = load_challenges(settings.challenges)
        self._stopping = threading.Event()
        self._folders = WorkFolders(settings.data / "work")
        self._sources = open_sources(
            settings.hub_endpoint, settings.github, settings.data / "files", self._folders.parts
        )
        self._replayer = Replayer(
            self._client, self._sources, self._folders, settings.jobs, self._stopping
        )
        self._said = ""
        # Of one question until a run answers it: a lease whose answer was lost is told again.
        self._asking = secrets.token_hex(16)
        recipes = self._challenges.recipes.items()
        taught = settings.teacher is not None
        lacking = {id: what_recipe_lacks(recipe, taught) for id, recipe in recipes}
        self._unfit = {id: lack for id, lack in lacking.items() if lack}

    def stop(self) -> None:
        """Ends after telling the arena that what is under way, if anything, is given up."""
        self._stopping.set()

    def work(self, once: bool = False) -> None:
        """Executes runs, and replays where none waits, until stopped; with `once`, one run."""
        self._sweep()
        for challenge, lack in self._unfit.items():
            log.warning("takes no runs of %s: %s", challenge, lack)
        try:
            while not self._stopping.is_set():
                try:
                    worked = self._next(runs_only=once)
                except ArenaError as exc:
                    self._warn(f"no lease: {exc}")
                    worked = False
                if worked and once:
                    return
                if not worked:
                    self._stopping.wait(POLL_SECONDS)
        finally:
            self._folders.close()

    def _next(self, runs_only: bool) -> bool:
        """Executes what waits: a run first. False where nothing does.

        Raises:
            ArenaError: the arena gave no answer.
        """
        missing = what_is_missing()
        asked = {"lease": self._asking, "missing": missing, "unfit": self._unfit}
        answer = self._client.post("/worker/lease", asked)
        if missing:
            self._warn(f"takes no runs: {missing}")
            return False
        if answer["lease"]:
            self._asking = secrets.token_hex(16)
            self._execute(Lease.model_validate(answer["lease"]))
            return True
        return not runs_only and self._replayer.work()

    def _warn(self, text: str) -> None:
        """Logs what keeps the worker idle, once and not at every poll."""
        if text != self._said:
            log.warning(text)
        self._said = text

    def _sweep(self) -> None:
        """Removes what workers that were killed left: folders, and containers of the engine."""
        if folders := self._folders.sweep():
            log.info("swept %d folders of workers that ended", folders)
        if folders := sweep(self._settings.checkpoints):
            log.info("swept the checkpoints of %d runs", folders)
        try:
            with Sandbox(jobs=1) as sandbox:
                sandbox.sweep()
        except EngineError as exc:
            log.info("no container is swept: %s", exc)  # each run and each replay does it again

    def _execute(self, lease: Lease) -> None:
        log.info("%s: leased", lease.run)
        teacher = self._settings.teacher
        unsaid = [self._settings.hub_token, self._settings.suite_key.hex()]
        unsaid += [teacher.key] if teacher and teacher.key else []
        life = Heartbeat(self._client, lease, self._stopping, unsaid)
        with life, self._folders.folder("run") as workdir:
            try:
                report = self._run(lease, life, workdir)
                self._send(lease, report, life)
                log.info("%s: reported", lease.run)
            except Cancelled:
                log.info("%s: given up", lease.run)
                if self._stopping.is_set():
                    fault = PlatformFault(WORKER_STOPPED, "The worker was stopped.")
                    self._fail(lease, fault, life)
                return  # it may be leased again, and then goes on where it was
            except RunFault as exc:
                log.warning("%s: %s: %s", lease.run, exc.code, exc.message)
                life.pass_on(FINAL_MESSAGES)  # a run that failed takes no more
                if not self._fail(lease, exc, life):
                    return
            except Exception as exc:
                # its text may quote the suite: the arena is told the kind alone
                log.exception("%s met a fault", lease.run)
                kind = type(exc).__name__
                fault = PlatformFault("worker_fault", f"The worker met {kind}.")
                if not self._fail(lease, fault, life):
                    return
        shutil.rmtree(self._checkpoints(lease), ignore_errors=True)

    def _checkpoints(self, lease: Lease) -> Path:
        return self._settings.checkpoints / quote(lease.run, safe="")

    def _run(self, lease: Lease, life: Heartbeat, workdir: Path) -> Report:
        stages = StageLog(life.on_event)
        with stages.stage("setup"):
            challenge, recipe = self._pinned(lease)
        with stages.stage("snapshot"):
            inputs = self._snapshot(lease, challenge, recipe, workdir)
        training, suite = self._sandboxes(challenge)
        with training, suite:
            training.sweep()
            deadline = time.monotonic() + challenge.compute.timeout

            def cancelled() -> bool:
                if time.monotonic() > deadline:
                    limit = f"{challenge.compute.timeout:.0f} s"
                    raise PlatformFault("run_timeout", f"The run took longer than {limit}.")
                return life.lost

            return execute(inputs, training, suite, life.on_event, cancelled, life.on_line)

    def _sandboxes(self, challenge: Challenge) -> tuple[Sandbox, Sandbox]:
        """The sandboxes of training and of suite tasks."""
        training, suite = sandbox_caps(challenge)
        jobs = self._settings.jobs
        return Sandbox(jobs=jobs, caps=training), Sandbox(jobs=jobs, caps=suite)

    def _pinned(self, lease: Lease) -> tuple[Challenge, Recipe]:
        challenge = self._challenges.challenges.get(lease.challenge)
        recipe = self._challenges.recipes.get(lease.challenge)
        if challenge is None or recipe is None:
            raise PlatformFault("worker_outdated", "The worker does not know the challenge.")
        if (challenge.digest, recipe.digest) != (lease.challenge_digest, lease.recipe_digest):
            raise PlatformFault("worker_outdated", "The worker has another challenge or recipe.")
        return challenge, recipe

    def _snapshot(
        self, lease: Lease, challenge: Challenge, recipe: Recipe, workdir: Path
    ) -> RunInputs:
        """Fetches the collection as a stranger, the suite and the model with the worker's token."""
        collection = workdir / "collection"
        collection.mkdir()
        fetch_collection(self._sources, lease.source, lease.collection, collection)
        api = HfApi(endpoint=self._settings.hub_endpoint, token=self._settings.hub_token)
        try:
            suite_commit = api.dataset_info(
                challenge.suite.repo, revision=challenge.suite.revision
            ).sha
            model_commit = api.model_info(
                challenge.base_model.repo, revision=challenge.base_model.revision
            ).sha
            suite = api.snapshot_download(
                challenge.suite.repo,
                repo_type="dataset",
                revision=suite_commit,
                local_dir=workdir / "suite",
            )
            model = api.snapshot_download(challenge.base_model.repo, revision=model_commit)
        except (HfHubHTTPError, httpx.HTTPError, OSError) as exc:
            raise PlatformFault(
                "snapshot_failed", f"Suite or model could not be fetched: {type(exc).__name__}."
            ) from None
        shutil.rmtree(workdir / "suite" / ".cache", ignore_errors=True)
        return RunInputs(
            run_id=lease.run,
            challenge=challenge,
            recipe=recipe,
            collection=collection,
            suite=Path(suite),
            base_model=Path(model),
            suite_key=self._settings.suite_key,
            workdir=workdir,
            checkpoints=self._checkpoints(lease),
            teacher=self._settings.teacher,
            pins={
                "collection_source": lease.source,
                "suite_revision": f"{challenge.suite.repo}@{suite_commit}",
                "base_model_revision": f"{challenge.base_model.repo}@{model_commit}",
            },
        )

    def _send(self, lease: Lease, report: Report, life: Heartbeat) -> None:
        """Sends the report. Where the arena is not there to take it the run is no failure: it goes
        back to the queue, and whoever leases it here finds every stage whole.

        Raises:
            ArenaError: it was refused. Cancelled: the lease is lost, or the arena was not there.
        """
        content = report.model_dump_json().encode()
        headers = {"Arena-Lease": lease.lease}
        try:
            self._tell(lease, "report", content, life, headers)
        except ArenaError as exc:
            if is_refusal(exc):
                raise
            log.warning("%s: the report was not taken: %s", lease.run, exc)
            raise Cancelled from exc

    def _fail(self, lease: Lease, fault: RunFault, life: Heartbeat) -> bool:
        """Whether the arena took it: where it did not, the run may be another worker's by now."""
        body = {
            "lease": lease.lease,
            "fault": fault.fault,
            "code": fault.code,
            "reason": fault.message[:1000],
        }
        try:
            self._tell(lease, "failure", body, life)
        except (ArenaError, Cancelled) as exc:
            log.warning(
                "%s: the failure was not taken: %s", lease.run, str(exc) or "the lease is lost"
            )
            return False
        return True

    def _tell(
        self,
        lease: Lease,
        what: str,
        body: dict[str, Any] | bytes,
        life: Heartbeat,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Tells the arena how a run ended.

        Heartbeats go on meanwhile, so the lease holds as long as the arena hears them.

        Raises:
            ArenaError: it was not taken. Cancelled: the lease is lost.
        """
        try:
            tell(
                self._client,
                f"/worker/runs/{lease.run}/{what}",
                body,
                stopping=self._stopping,
                is_over=lambda: life.lease_lost,
                headers=headers,
            )
        except RemoteError as exc:
            if exc.remote_code in OVER:  # no heartbeat has learnt it yet
                raise Cancelled from exc
            raise


def what_is_missing() -> str | None:
    """What this machine lacks to execute runs; None where it lacks nothing."""
    try:
        connect(engine_address(None), seconds=5).close()
        docker_command()
        image_cache_bytes(os.environ)
    except (NoDockerCommand, SettingsError) as exc:
        return str(exc)
    except (DockerException, RequestException, OSError):
        return "no Docker engine"
    return None


def sandbox_caps(challenge: Challenge) -> tuple[Caps, Caps]:
    """What a challenge gives to its training tasks at most, and to its suite's.

    `evaluation.timeout_sec` is the time that both arms of the measurement have. It bounds the
    suite's tasks alone: the gate gives an oracle the time that its replay gave it.
    """
    training, suite = (
        Caps(
            memory_mb=caps.memory_mb,
            cpus=caps.cpus,
            agent_timeout_sec=caps.agent_timeout_sec,
            verifier_timeout_sec=caps.verifier_timeout_sec,
            build_timeout_sec=caps.build_timeout_sec,
            network=caps.network,
        )
        for caps in (challenge.sandbox.training, challenge.sandbox.suite)
    )
    measured = min(challenge.sandbox.suite.agent_timeout_sec, challenge.evaluation.timeout_sec)
    return training, replace(suite, agent_timeout_sec=measured)
