"""Many trials at once: every one executed, platform faults retried, cancelling watched for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from arena.packages import TaskPackage
from arena.posttrain.events import PROGRESS_SECONDS, Progress
from arena.posttrain.faults import Cancelled
from arena.sandbox import Agent, Sandbox, TrialResult, scripted, untouched

ATTEMPTS = 3
"""How often a trial that fails by the platform's fault is tried."""

Result = TypeVar("Result")


def agent_of(command: str | None) -> Agent:
    """The agent that runs a model's command; an answer without one is a trial all the same."""
    return scripted([command]) if command else untouched()


@dataclass(frozen=True)
class TrialRunner:
    """Runs work against the sandbox, several pieces side by side, answers in order."""

    sandbox: Sandbox
    cancelled: Callable[[], bool]

    def trials(
        self, jobs: Sequence[tuple[TaskPackage, Agent]], progress: Progress
    ) -> list[TrialResult]:
        return self.side_by_side([partial(self.trial, *job) for job in jobs], progress)

    def trial(self, package: TaskPackage, agent: Agent) -> TrialResult:
        for _ in range(ATTEMPTS - 1):
            result = self.sandbox.trial(package, agent)
            if result.fault != "platform":
                return result
        return self.sandbox.trial(package, agent)

    def side_by_side(
        self, calls: Sequence[Callable[[], Result]], progress: Progress
    ) -> list[Result]:
        """The results of `calls`, in their order; each done is counted on `progress`.

        Raises:
            Cancelled: the run was called off; what had begun is waited for.
        """
        pool = ThreadPoolExecutor(self.sandbox.jobs)
        try:
            futures = [pool.submit(call) for call in calls]
            self._wait(set(futures), progress)
            return [future.result() for future in futures]
        finally:
            pool.shutdown(cancel_futures=True)

    def _wait(self, pending: set[Future[Result]], progress: Progress) -> None:
        while pending:
            done, pending = wait(pending, PROGRESS_SECONDS, return_when=FIRST_COMPLETED)
            if self.cancelled():
                raise Cancelled
            for future in done:
                future.result()  # the first that failed ends the stage
            progress.advance(len(done))
