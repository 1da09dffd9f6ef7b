"""How work ended is told until the arena takes it: over lost answers, and while the store is out."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi import Response
from fastapi.responses import JSONResponse

from arena.client import ArenaClient, ArenaUnreachable, RemoteError
from arena.errors import NotRecorded
from arena.identity import Identity
from arena.posttrain.faults import Cancelled, PlatformFault
from arena.report import Report
from arena.runs import telling
from arena.runs.heartbeat import Heartbeat
from arena.runs.messages import Lease
from arena.runs.queue import BY, lost
from arena.runs.replayer import Replayer
from arena.runs.replays import ReadyToReplay
from arena.runs.telling import tell
from arena.runs.workfolders import WorkFolders
from arena.service import Arena
from arena.settings import GitHubSettings, Settings
from arena.sources import open_sources
from tests.hub import RunningHub
from tests.hubfront import HubFront
from tests.service.scripted import arms, leased, report, worker_of

Who = Callable[[str], Identity]
LEASE = "0" * 32


@pytest.fixture
def front(api: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubFront]:
    """A way to the arena on which answers get lost."""
    monkeypatch.setattr(telling, "FIRST_PAUSE_SECONDS", 0.01)
    front = HubFront(api)
    yield front
    front.close()


def lose(front: HubFront, route: str, answer: Callable[[], Response], times: int) -> list[str]:
    """The next `times` calls of a route get that answer; gives those calls as they come."""
    lost: list[str] = []

    def refuse(path: str) -> Response | None:
        if not path.endswith(route) or len(lost) == times:
            return None
        lost.append(path)
        return answer()

    front.refuse = refuse
    return lost


def bad_gateway() -> Response:
    return Response(status_code=502)


def not_recorded() -> Response:
    error = NotRecorded(problem="the hour is full").as_dict()
    return JSONResponse({"ok": False, "error": error}, status_code=503)


@pytest.mark.parametrize(("answer", "times"), [(bad_gateway, 5), (not_recorded, 3)])
def test_a_replay_is_handed_back_over_lost_answers(
    arena: Arena, valid: str, front: HubFront, hub: RunningHub, tmp_path: Path,
    answer: Callable[[], Response], times: int, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    content = arena.ledger.state.submissions[valid].collection
    assert content
    monkeypatch.setattr("arena.runs.replayer.fetch_collection", lambda *_: 1 / 0)
    lost = lose(front, "hand-back", answer, times)
    source = open_sources(hub.url, GitHubSettings(), tmp_path / "files")
    folders = WorkFolders(tmp_path / "work")
    client = ArenaClient(front.url, "hf_worker")
    assert Replayer(client, source, folders, 1, threading.Event()).work()
    assert len(lost) == times
    assert arena.replays.live(content) is None, "free for the next worker"
    assert arena.replays.lease("another", ReadyToReplay(lease=LEASE))


def test_a_worker_that_is_stopped_tells_once_more(front: HubFront) -> None:
    stopping = threading.Event()
    stopping.set()
    lost = lose(front, "failure", not_recorded, 9)
    client = ArenaClient(front.url, "hf_worker")
    with pytest.raises(RemoteError, match="not_recorded"):
        tell(client, "/worker/runs/r/failure", {}, stopping=stopping, is_over=lambda: False)
    assert len(lost) == 1


def test_what_is_refused_is_not_told_again(
    arena: Arena, front: HubFront, valid: str, who: Who
) -> None:
    arena.launch(who("author"), valid, "demo")
    lease = leased(arena)
    body = {"lease": LEASE, "fault": "platform", "code": "x", "reason": "r"}
    client, stopping = ArenaClient(front.url, "hf_worker"), threading.Event()
    path = f"/worker/runs/{lease.run}/failure"
    with pytest.raises(RemoteError, match="lease_lost"):
        tell(client, path, body, stopping=stopping, is_over=lambda: False)
    assert sum(p.endswith("failure") for p in front.paths()) == 1
    with pytest.raises(Cancelled):
        tell(client, path, body, stopping=stopping, is_over=lambda: True)


def test_telling_ends(front: HubFront, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "PATIENCE_SECONDS", 0.0)
    lose(front, "failure", bad_gateway, 99)
    client = ArenaClient(front.url, "hf_worker")
    with pytest.raises(ArenaUnreachable):
        tell(client, "/worker/runs/r/failure", {}, stopping=threading.Event(),
             is_over=lambda: False)  # fmt: skip


def given_away(arena: Arena, who: Who, valid: str) -> Lease:
    """The lease that a worker had of a run that another worker has by now."""
    arena.launch(who("author"), valid, "demo")
    lease = leased(arena)
    arena.ledger.transact(lambda s: [lost(s.runs[lease.run], BY, "worker_lost", "Silent.")])
    assert leased(arena).run == lease.run
    return lease


def test_a_worker_that_lost_its_run_leaves_what_the_next_one_takes_up(
    arena: Arena, api: str, valid: str, who: Who, settings: Settings, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The next one may be on the same machine, amid the same run."""
    lease, worker = given_away(arena, who, valid), worker_of(api, settings, tmp_path)
    kept = worker._checkpoints(lease)
    kept.mkdir(parents=True)

    def fail(*_: object) -> Report:
        raise PlatformFault("run_timeout", "The run took longer than 1 s.")

    monkeypatch.setattr(worker, "_run", fail)
    worker._execute(lease)
    assert kept.is_dir()
    assert arena.read.run_detail(lease.run).state == "running"


def test_a_report_of_a_run_that_is_anothers_is_no_fault(
    arena: Arena, api: str, valid: str, who: Who, settings: Settings, tmp_path: Path
) -> None:
    lease, worker = given_away(arena, who, valid), worker_of(api, settings, tmp_path)
    content = report(arena.ledger.state.runs[lease.run].record, *arms(0.25, 0.75))
    life = Heartbeat(ArenaClient(api, "hf_worker"), lease, threading.Event())
    with pytest.raises(Cancelled):
        worker._send(lease, Report.model_validate(content), life)


def test_a_report_that_is_not_taken_is_no_failure(
    arena: Arena, front: HubFront, valid: str, who: Who, settings: Settings, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Its stages are kept: the worker that leases the run again sends it anew."""
    arena.launch(who("author"), valid, "demo")
    lease = leased(arena)
    worker = worker_of(front.url, settings, tmp_path)
    (kept := worker._checkpoints(lease)).mkdir(parents=True)
    content = report(arena.ledger.state.runs[lease.run].record, *arms(0.25, 0.75))
    monkeypatch.setattr(worker, "_run", lambda *_: Report.model_validate(content))
    monkeypatch.setattr(telling, "PATIENCE_SECONDS", 0.0)
    lose(front, "report", bad_gateway, 99)
    worker._execute(lease)
    assert kept.is_dir()
    assert arena.read.run_detail(lease.run).state == "running"
    assert not [path for path in front.paths() if path.endswith("failure")]
