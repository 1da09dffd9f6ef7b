"""What the local hub's tests share: the real client against a real hub."""

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from huggingface_hub import CommitOperationAdd, HfApi

from tests.hub import RunningHub, start_hub


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


@pytest.fixture(scope="session")
def author(hub: RunningHub) -> HfApi:
    return hub.api("author")


@pytest.fixture
def dataset(author: HfApi) -> str:
    return make_dataset(author)


def make_dataset(author: HfApi) -> str:
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


@pytest.fixture(scope="session")
def http(hub: RunningHub) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=hub.url) as client:
        yield client


def bearer(account: str) -> dict[str, str]:
    return {"Authorization": f"Bearer hf_{account}"}
