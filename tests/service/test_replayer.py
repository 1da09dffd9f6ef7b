"""The worker's side of a replay: trouble is given back and bounded; what was found is kept."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from arena.client import ArenaClient
from arena.identity import Identity
from arena.posttrain.faults import PlatformFault
from arena.runs import replayer
from arena.runs.replayer import TRIES, Replayer
from arena.runs.snapshot import fetch_collection
from arena.runs.workfolders import WorkFolders
from arena.service import Arena
from arena.settings import GitHubSettings
from arena.sources import open_sources
from tests.collections import upload, write_package
from tests.hub import RunningHub
from tests.service.conftest import ROOT, settled
from tests.service.scripted import ready

Who = Callable[[str], Identity]
UNREACHABLE = "FROM 127.0.0.1:9/nothing:1\nCOPY seed.txt /root/\n"


@pytest.fixture
def folders(tmp_path: Path) -> WorkFolders:
    return WorkFolders(tmp_path / "work")


@pytest.fixture
def worker(
    api: str, hub: RunningHub, tmp_path: Path, folders: WorkFolders, docker_engine: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[], Replayer]:  # fmt: skip
    """Starts a worker's replayer, on the real engine, against the arena's API."""
    monkeypatch.setenv("DOCKER_HOST", docker_engine)
    monkeypatch.setattr(replayer, "PAUSE_SECONDS", 0.0)

    def start() -> Replayer:
        source = open_sources(hub.url, GitHubSettings(), tmp_path / "files", folders.parts)
        return Replayer(ArenaClient(api, "hf_worker"), source, folders, 2, threading.Event())

    return start


@pytest.mark.docker
def test_trouble_is_tried_again_a_few_times_and_said(
    arena: Arena, who: Who, hub: RunningHub, tmp_path: Path, worker: Callable[[], Replayer]
) -> None:
    folder = tmp_path / "troubled"
    write_package(folder / "sound")
    write_package(folder / "unreachable", {"environment/Dockerfile": UNREACHABLE})
    source = f"hf:author/troubled@{upload(hub.api('author'), 'author/troubled', folder)}"
    submission = arena.submit(who("author"), source, "T").id
    assert settled(arena, submission).state == "valid"

    def text() -> str:
        replay = arena.read.submission_detail(submission).replay
        assert replay is not None
        return replay.text

    arena.queue.lease("arena-worker", ready())  # a worker is heard of
    running = worker()
    for _ in range(TRIES):
        assert "when the worker is started anew" not in text()
        assert running.work()
        assert "unreachable: the build of unreachable met trouble" in text()
    assert "when the worker is started anew" in text()
    assert not running.work(), "it is left alone"
    assert worker().work(), "a worker started anew tries again"
    assert arena.ledger.state.replays == {}, "nobody's verdict"


@pytest.mark.docker
def test_what_was_found_before_a_run_went_first_is_kept(
    arena: Arena, who: Who, valid: str, worker: Callable[[], Replayer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    tried: list[str] = []
    real = replayer.replay

    def counted(sandbox: object, package: object) -> object:
        tried.append(package.name)  # type: ignore[attr-defined]
        if len(tried) == 1:
            arena.launch(who("author"), valid, "demo")
        return real(sandbox, package)  # type: ignore[arg-type]

    monkeypatch.setattr(replayer, "replay", counted)
    running = worker()
    assert running.work()
    assert arena.ledger.state.replays == {}
    assert 1 <= len(tried) < 4, "no other package was begun"
    assert arena.queue.lease("arena-worker", ready()) is not None, "the run is not held up"
    assert running.work()
    assert sorted(tried) == [row.name for row in arena.read.submission_detail(valid).package_rows]
    assert len(arena.ledger.state.replays) == 1
    assert not running.work(), "nothing is left"


def test_another_content_than_the_validated_is_not_replayed(
    hub: RunningHub, collection: Callable[..., str], tmp_path: Path
) -> None:
    source = open_sources(hub.url, GitHubSettings(), tmp_path / "files", tmp_path / "parts")
    with pytest.raises(PlatformFault, match="not what was validated"):
        fetch_collection(source, collection(), "0" * 64, tmp_path / "fetched")
    assert list((tmp_path / "parts").iterdir()) == []


def test_the_folders_of_the_dead_are_swept_and_of_the_living_kept(
    tmp_path: Path, folders: WorkFolders
) -> None:
    make = (
        "import pathlib, sys, time; from arena.runs.workfolders import WorkFolders\n"
        "with WorkFolders(pathlib.Path(sys.argv[1])).folder('run') as folder:\n"
        "    (folder / 'suite').write_text('sealed'); print(flush=True); time.sleep(600)\n"
    )
    root = tmp_path / "work"
    other = subprocess.Popen(
        [sys.executable, "-c", make, str(root)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert other.stdout is not None
    other.stdout.readline()
    with folders.folder("replay") as own:
        assert folders.sweep() == 0, "both live"
        other.send_signal(signal.SIGKILL)
        other.wait()
        assert list(root.glob("*/run-*/suite"))
        assert folders.sweep() == 1
        assert list(root.glob("*/run-*")) == []
        assert own.is_dir()
    elsewhere = root / quote("elsewhere|1|1", safe="")
    elsewhere.mkdir()
    assert folders.sweep() == 0, "whoever works on another machine may live"
    folders.close()
    assert list(root.iterdir()) == [elsewhere]
