"""The arena against a real local hub, with a made-up worker where a test needs a result."""

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from uuid import uuid4

import pytest
import uvicorn

from arena.api import create_api
from arena.challenges import load_challenges
from arena.errors import ArenaError
from arena.identity import Identity
from arena.service import Arena
from arena.settings import Settings
from arena.views import SubmissionDetail
from local.demo.publish import publish
from tests.collections import upload, write_collection
from tests.hub import RunningHub
from tests.service.fronts import Fronts

ROOT = Path(__file__).parents[2]
KEY = b"k" * 32


@pytest.fixture(scope="session")
def published(hub: RunningHub, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The demo on the hub, with a file in place of the base model, which no service reads."""
    model = tmp_path_factory.mktemp("model")
    (model / "config.json").write_text("{}")
    challenge = load_challenges(ROOT / "challenges").challenges["demo"]
    return publish(hub.url, challenge, model, KEY)


@pytest.fixture
def settings(hub: RunningHub, published: str, tmp_path: Path) -> Settings:
    """Settings with a results store of the test's own."""
    return Settings(
        hub_token="hf_arena",
        hub_endpoint=hub.url,
        challenges=ROOT / "challenges",
        data=tmp_path / "data",
        host="127.0.0.1",
        port=0,
        suite_key=KEY,
        results_repo=f"arena-bot/results-{uuid4().hex[:8]}",
        commons_repo=f"arena-bot/commons-{uuid4().hex[:8]}",
        lease_seconds=60,
        commits_per_hour=10_000,
    )


@pytest.fixture
def start_arena(settings: Settings) -> Iterator[Callable[..., Arena]]:
    """Starts an arena, with some settings changed; several share one store."""
    started: list[Arena] = []

    def start(**changes: object) -> Arena:
        arena = Arena(replace(settings, **changes))  # type: ignore[arg-type]
        arena.start()
        started.append(arena)
        return arena

    yield start
    for arena in started:
        arena.close()


@pytest.fixture
def arena(start_arena: Callable[..., Arena]) -> Arena:
    return start_arena()


@pytest.fixture
def who(arena: Arena) -> Callable[[str], Identity]:
    """An account, by its token."""
    return lambda account: arena.identities.of(f"hf_{account}", "token")


@pytest.fixture
def collection(hub: RunningHub, tmp_path: Path) -> Callable[..., str]:
    """Publishes a sound collection of its own content; gives its address."""

    def make(
        account: str = "author",
        repo: str | None = None,
        files: dict[str, str] | None = None,
        count: int = 4,
    ) -> str:
        word = f"w{uuid4().hex[:8]}"
        folder = write_collection(tmp_path / word, count, word)
        for path, text in (files or {}).items():
            (folder / path).write_text(text)
        repo = repo or f"{account}/c-{word}"
        return f"hf:{repo}@{upload(hub.api(account), repo, folder)}"

    return make


def settled(arena: Arena, submission: str, seconds: float = 20) -> SubmissionDetail:
    """A submission once its validation ended."""
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        view = arena.read.submission_detail(submission)
        if view.state in {"valid", "invalid", "failed"}:
            return view
        sleep(0.02)
    raise AssertionError(f"{submission} is still {view.state} after {seconds} s")


def refusal(call: Callable[[], object]) -> str:
    """The code of the error that `call` is refused with."""
    with pytest.raises(ArenaError) as caught:
        call()
    assert caught.value.message
    assert caught.value.next
    return caught.value.code


def limit(arena: Arena, **limits: int) -> None:
    """Sets the arena's limits; those not named are out of the way."""
    far = {"validations_per_author_per_hour": 99, "validations_per_hour": 99}
    changed = arena.challenges.arena.limits.model_copy(
        update=far | {"active_submissions": 99} | limits
    )
    arena.challenges = arena.challenges.model_copy(
        update={"arena": arena.challenges.arena.model_copy(update={"limits": changed})}
    )


def wait_for(condition: Callable[[], object], seconds: float = 20) -> None:
    deadline = monotonic() + seconds
    while not condition():
        assert monotonic() < deadline, "it did not come to pass"
        sleep(0.02)


@pytest.fixture
def valid(arena: Arena, who: Callable[[str], Identity], collection: Callable[..., str]) -> str:
    """A valid submission of `author`."""
    submission = arena.submit(who("author"), collection(), "A collection").id
    assert settled(arena, submission).state == "valid"
    return submission


@pytest.fixture
def api(arena: Arena) -> Iterator[str]:
    """The arena's API over a real socket; gives its address."""
    config = uvicorn.Config(
        create_api(arena), host="127.0.0.1", port=free_port(), log_level="error"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started)
    yield f"http://127.0.0.1:{config.port}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def fronts(api: str) -> Fronts:
    return Fronts(api)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
