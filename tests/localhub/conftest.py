"""A real local hub in a process of its own, and the real client against it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from huggingface_hub import CommitOperationAdd, HfApi

CLIENT_ID, CLIENT_SECRET = "test-application", "test-secret"


@dataclass
class RunningHub:
    url: str
    data: Path
    process: subprocess.Popen[str]

    def api(self, account: str | None) -> HfApi:
        return HfApi(endpoint=self.url, token=f"hf_{account}" if account else False)

    def git_dir(self, repo_id: str, kind: str = "datasets") -> Path:
        return self.data / "repositories" / kind / f"{repo_id}.git"

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=20)


def start_hub(data: Path, port: int = 0) -> RunningHub:
    process = subprocess.Popen(
        [sys.executable, "-m", "arena.localhub", "--data", str(data), "--port", str(port)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OAUTH_CLIENT_ID": CLIENT_ID, "OAUTH_CLIENT_SECRET": CLIENT_SECRET},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("Local hub ready at http://127.0.0.1:"), line
    return RunningHub(line.split()[-1], data, process)


@pytest.fixture(scope="session", autouse=True)
def _plain_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The client's cache is a temporary folder, and Xet is off, as it is on a laptop."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
        patch.setattr(
            "huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path_factory.mktemp("cache"))
        )
        yield


@pytest.fixture(scope="session")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    running = start_hub(tmp_path_factory.mktemp("hub"))
    yield running
    running.stop()


@pytest.fixture
def own_hub(tmp_path: Path) -> Iterator[Callable[[], RunningHub]]:
    """Starts a hub that the test may stop or kill; each call is on the same data."""
    started: list[RunningHub] = []

    def start() -> RunningHub:
        started.append(start_hub(tmp_path / "hub"))
        return started[-1]

    yield start
    for running in started:
        running.process.kill()
        running.process.wait()


@pytest.fixture
def author(hub: RunningHub) -> HfApi:
    return hub.api("author")


@pytest.fixture
def dataset(author: HfApi) -> str:
    """A fresh public dataset of `author` with a README and two files."""
    repo_id = f"author/d-{uuid4().hex[:8]}"
    author.create_repo(repo_id, repo_type="dataset")
    files = {"README.md": b"# Hello\n", "a/one.txt": b"one\n", "a/b/two.bin": b"\x00\x01\xff"}
    author.create_commit(
        repo_id,
        [CommitOperationAdd(path, content) for path, content in files.items()],
        commit_message="Add files",
        repo_type="dataset",
    )
    return repo_id


@pytest.fixture
def http(hub: RunningHub) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=hub.url) as client:
        yield client


def bearer(account: str) -> dict[str, str]:
    return {"Authorization": f"Bearer hf_{account}"}
