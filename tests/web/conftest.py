"""The real app on a real local hub, in processes of their own, and a real browser before it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser

from arena.challenges import load_challenges
from arena.processes import Process
from local.demo.publish import publish
from tests.browser import Tab, started
from tests.collections import upload, write_collection
from tests.hub import CLIENT_ID, CLIENT_SECRET, RunningHub, start_hub
from tests.localgithub import LocalGitHub

ROOT = Path(__file__).parents[2]
KEY = "k" * 32


@dataclass
class Site:
    """A running app and its hub."""

    url: str
    hub: RunningHub
    folder: Path
    github: LocalGitHub
    app: Process = field(init=False)

    def start_app(self, **env: str) -> None:
        """Starts the app at the site's address, with some of its settings changed."""
        port = int(self.url.rpartition(":")[2])
        whole = {**_env(self.hub.url, port, self.folder), "GITHUB_ENDPOINT": self.github.url}
        self.app = Process.start(
            "app", [sys.executable, str(ROOT / "app.py")], whole | env, self.folder / "logs"
        )
        self.app.wait_until_answers(f"{self.url}/openapi.json")

    def collection(self, more: dict[str, str] | None = None) -> str:
        """Publishes a collection of `author` of its own content and `more`; gives its address."""
        word = f"w{uuid4().hex[:8]}"
        folder = write_collection(self.folder / word, 4, word)
        for path, text in (more or {}).items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        repo = f"author/c-{word}"
        return f"hf:{repo}@{upload(self.hub.api('author'), repo, folder)}"

    def api_error(self, account: str | None, path: str, body: dict[str, str]) -> dict[str, str]:
        """The error that REST answers with."""
        headers = {"Authorization": f"Bearer hf_{account}"} if account else {}
        answer = httpx.post(f"{self.url}/api/v1{path}", json=body, headers=headers, timeout=30)
        error: dict[str, str] = answer.json()["error"]
        return error


@contextmanager
def running_site(folder: Path, **env: str) -> Iterator[Site]:
    """A hub with the demo published, and the app before it, until the block ends."""
    hub = start_hub(folder / "hub")
    model = folder / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    challenge = load_challenges(ROOT / "challenges").challenges["demo"]
    publish(hub.url, challenge, model, KEY.encode())
    github = LocalGitHub(folder / "github")
    port = _free_port()
    site = Site(f"http://127.0.0.1:{port}", hub, folder, github)
    site.start_app(**env)
    try:
        yield site
    finally:
        site.app.stop()
        hub.stop()
        github.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("web")) as site:
        yield site


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One for a module: while it is open, this thread has an event loop that runs."""
    with started(chromium) as browser:
        yield browser


@pytest.fixture
def open_tab(browser: Browser, site: Site) -> Iterator[Callable[..., Tab]]:
    """Opens sessions; when the test ends, nothing may have gone wrong in any of them."""
    tabs: list[Tab] = []

    def opened(width: int = 1280) -> Tab:
        tabs.append(Tab.opened(browser, site.url, site.hub.url, width))
        return tabs[-1]

    yield opened
    for tab in tabs:
        tab.page.context.close()
    assert [problem for tab in tabs for problem in tab.problems] == []


@pytest.fixture
def tab(open_tab: Callable[..., Tab]) -> Tab:
    return open_tab()


def _env(hub_url: str, port: int, folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HF_ENDPOINT": hub_url,
        "HF_HOME": str(folder / "huggingface"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "GRADIO_ANALYTICS_ENABLED": "False",
        "SYSTEM": "spaces",
        "SPACE_ID": "arena/posttrain-arena",
        "OAUTH_CLIENT_ID": CLIENT_ID,
        "OAUTH_CLIENT_SECRET": CLIENT_SECRET,
        "OAUTH_SCOPES": "openid profile",
        "OPENID_PROVIDER_URL": hub_url,
        "HF_TOKEN": "hf_arena",
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "ARENA_CHALLENGES": str(ROOT / "challenges"),
        "ARENA_DATA": str(folder / "app"),
        "ARENA_COMMITS_PER_HOUR": "10000",  # the tests share this app
        "ARENA_SUITE_KEY": KEY,
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
