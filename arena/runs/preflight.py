"""What can be said of a run before it is launched, condition by condition."""

from __future__ import annotations

from arena.errors import ArenaError
from arena.runs.launch import Condition
from arena.runs.queue import RunQueue
from arena.views import ConditionView, SubmissionDetail


def tried(condition: Condition) -> ConditionView:
    """A condition of the launch, as it stands now."""
    try:
        condition.require()
    except ArenaError as exc:
        why = f"{exc.message} {exc.next}"
        return ConditionView(name=condition.name, outcome="fail", code=exc.code, why=why)
    return ConditionView(name=condition.name, outcome="ok")


def foreseen(submission: SubmissionDetail, queue: RunQueue) -> list[ConditionView]:
    """What keeps no launch back and yet decides how the run will go."""
    return [_replay(submission), _worker(queue)]


def _replay(submission: SubmissionDetail) -> ConditionView:
    name, replay = "oracles proven", submission.replay
    if replay is None or replay.state != "done":
        why = "Not replayed by the organizers yet; the run's gate tries every oracle."
        return ConditionView(name=name, outcome="skip", why=why)
    if replay.proven == replay.total:
        return ConditionView(name=name, outcome="ok", why=f"{replay.proven} of {replay.total}")
    why = f"{replay.proven} of {replay.total}: the gate leaves out what fails there as well."
    return ConditionView(name=name, outcome="skip", why=why)


def _worker(queue: RunQueue) -> ConditionView:
    name = "a worker is connected"
    if queue.ready_workers():
        return ConditionView(name=name, outcome="ok")
    why = "None is heard of now: the run waits in the queue until one is."
    return ConditionView(name=name, outcome="skip", why=why)
