"""Trials: an agent acts in one container, another verifies, and every failure finds its owner."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from arena.packages import TaskPackage
from arena.sandbox.agents import Agent
from arena.sandbox.ahead import Ahead
from arena.sandbox.carrying import collect
from arena.sandbox.engine import Engine
from arena.sandbox.errors import AgentFault, CannotStart, EndedEarly, EngineError, SessionOver
from arena.sandbox.guard import Guard
from arena.sandbox.images import Image, Images
from arena.sandbox.lookups import Lookups
from arena.sandbox.preflight import unbuildable
from arena.sandbox.results import Caps, Fault, Limits, Step, TrialResult
from arena.sandbox.session import Session
from arena.sandbox.verification import Verdict, Verifier
from arena.settings import image_cache_bytes

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

# Pauses before the engine is asked again; with the first, three tries in all.
_PAUSES_SEC = (0.2, 1.0)
# A job holds a wait and a read open while it, the remover and what goes ahead make calls.
_CONNECTIONS_A_JOB = 5


class Sandbox:
    """Trials on one Docker engine, `jobs` at a time under `map`.

    Raises EngineUnavailable where no engine answers, and NoDockerCommand where none builds images.
    Use it as a context manager: leaving it removes every container it made.
    """

    def __init__(
        self, engine_url: str | None = None, jobs: int = 4, caps: Caps | None = None
    ) -> None:
        self._engine = Engine(engine_url, connections=jobs * _CONNECTIONS_A_JOB)
        self._images = Images(self._engine, image_cache_bytes(os.environ))
        self._lookups: dict[str, Lookups] = {}
        self._started: set[str] = set()  # images in which trials came to a verdict
        self._caps = caps or Caps()
        self._workers = ThreadPoolExecutor(jobs, thread_name_prefix="trial")
        self._ahead = ThreadPoolExecutor(jobs, thread_name_prefix="ahead")

    def build(self, package: TaskPackage) -> str:
        """The id of the package's image, built where the engine lacks it. Raises BuildError."""
        return self._image(package).id

    def unbuildable(self, package: TaskPackage) -> str | None:
        """Why the engine is too old to build the package's image; None where it is not."""
        dockerfile = package.root / "environment" / "Dockerfile"
        return unbuildable(dockerfile.read_text("utf-8", "replace"), self._engine.version)

    def trial(self, package: TaskPackage, agent: Agent, *, verifications: int = 1) -> TrialResult:
        """One attempt at one task.

        `verifications`: how many fresh containers may try for a reward before it counts as missing.
        What the agent itself raises, and BuildError, come out of here; nothing else does.
        """
        began = time.monotonic()
        attempt = _Attempt()
        try:
            verdict = self._attempt(package, agent, attempt, verifications)
            fault: Fault | None = "verifier" if verdict.reward is None else None
            self._started.add(attempt.image)
        except AgentFault as error:
            verdict, fault = Verdict(0.0, str(error), ""), "agent"
        except EndedEarly as error:
            verdict, fault = Verdict(None, str(error), error.output), "verifier"
        except CannotStart as error:
            verdict, fault = self._not_started(package, attempt.image, error)
        except EngineError as error:
            verdict, fault = Verdict(None, str(error), ""), "platform"
        details = [attempt.ended, verdict.detail]
        return TrialResult(
            reward=verdict.reward,
            fault=fault,
            detail="; ".join(detail for detail in details if detail),
            steps=attempt.steps,
            verifier_output=verdict.output,
            seconds=time.monotonic() - began,
            image=attempt.image,
        )

    def map(self, function: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        """`function` of each item, in order, in this sandbox's threads."""
        return list(self._workers.map(function, items))

    def sweep(self) -> int:
        """Remove trial containers whose process died without doing so; returns how many.

        Then images that the arena built go, where there are more than the limit allows.
        """
        removed = self._engine.sweep()
        self._images.trim()
        return removed

    def close(self) -> None:
        """End the threads and remove what is left of the containers."""
        self._workers.shutdown(wait=True, cancel_futures=True)
        self._ahead.shutdown(wait=True, cancel_futures=True)
        self._images.trim()
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if error_type is not None:
            # Ctrl-C, or one item of a map failed: the others must not hold the end up.
            self._images.abandon()
            self._engine.abandon()
        self.close()

    def _not_started(
        self, package: TaskPackage, image: str, error: CannotStart
    ) -> tuple[Verdict, Fault]:
        """Whose doing it is that no container starts: the image's, where others do start.

        Not of an image in which one has started before: no agent, and no image, changes that.
        """
        network = self._limits(package).network
        if image in self._started or not self._engine.starts_others(network):
            return Verdict(None, str(error), ""), "platform"
        why = f"no container starts in the package's image, while others do: {error}"
        return Verdict(None, why, ""), "verifier"

    def _attempt(
        self, package: TaskPackage, agent: Agent, attempt: _Attempt, verifications: int
    ) -> Verdict:
        limits = self._limits(package)
        left = self._retrying(lambda: self._act(package, agent, limits, attempt))
        ready: Ahead | None = left.ready

        def verify() -> Verdict:
            nonlocal ready
            ahead, ready = ready, None
            if ahead is None:
                ahead = self._go_ahead(package, left.image, limits)
                ahead.expect(left.acted)
            return ahead.verdict(left.carried)

        for _ in range(verifications):
            verdict = self._retrying(verify)
            if verdict.reward is not None:
                break
        return verdict

    def _act(self, package: TaskPackage, agent: Agent, limits: Limits, attempt: _Attempt) -> _Left:
        image = self._images.ensure(package, limits)
        attempt.image = image.id
        session = Session(self._engine, package, image, limits)
        ready = self._go_ahead(package, image, limits)
        try:
            with suppress(SessionOver):
                agent(session)
            acted = session.container is not None
            # Before the files come: the engine runs nothing in a container that it unpacks into.
            lookups = self._look_up(package, image, limits, ready) if acted else Lookups()
            ready.expect(acted)
            session.end()
            guard = Guard(image, package.artifacts, lookups)
            carried = collect(self._engine, session, package, guard, limits)
            return _Left(image, acted, carried, ready)
        except BaseException:
            ready.discard()
            raise
        finally:
            attempt.steps, attempt.ended = tuple(session.steps), session.over
            session.discard()

    def _look_up(self, package: TaskPackage, image: Image, limits: Limits, ready: Ahead) -> Lookups:
        """Where the image's programs look for others, asked once.

        An agent does not act twice for a connection that was lost here: another verifier's
        container is asked.
        """
        if image.id not in self._lookups:
            try:
                self._lookups[image.id] = ready.lookups()
            except EngineError:
                other = self._go_ahead(package, image, limits)
                try:
                    self._lookups[image.id] = other.lookups()
                finally:
                    other.discard()
        return self._lookups[image.id]

    def _go_ahead(self, package: TaskPackage, image: Image, limits: Limits) -> Ahead:
        return Ahead(self._ahead, lambda: Verifier(self._engine, package, image, limits))

    def _image(self, package: TaskPackage) -> Image:
        limits = self._limits(package)
        return self._retrying(lambda: self._images.ensure(package, limits))

    def _limits(self, package: TaskPackage) -> Limits:
        return Limits.of(package, self._caps, self._engine.cpus)

    def _retrying(self, call: Callable[[], Outcome]) -> Outcome:
        for pause in _PAUSES_SEC:
            try:
                return call()
            except EngineError:
                self._images.forget()
                time.sleep(pause)
        return call()


@dataclass
class _Attempt:
    """What is known of a trial so far, whatever ends it."""

    image: str = ""
    steps: tuple[Step, ...] = ()
    ended: str | None = None


class _Left(NamedTuple):
    """What an agent's time leaves: its files, and a verifier that is ready for them."""

    image: Image
    acted: bool
    carried: bytes
    ready: Ahead
