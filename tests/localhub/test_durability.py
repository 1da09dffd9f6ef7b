"""Races, restarts and kills: what was answered is there, and nothing else."""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError

from arena.localhub.git import ObjectReaders
from arena.localhub.metadata import RepoType
from arena.localhub.repos import Repositories
from tests.hub import RunningHub, start_hub
from tests.localhub.conftest import bearer


def commit(api: HfApi, repo_id: str, path: str, parent: str | None = None) -> str:
    made = api.create_commit(
        repo_id,
        [CommitOperationAdd(path, path.encode())],
        commit_message=f"Write {path}",
        repo_type="dataset",
        parent_commit=parent,
    )
    return made.oid


def fsck(git_dir: Path) -> str:
    command = ["git", "--git-dir", str(git_dir), "fsck", "--full", "--strict"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


def test_of_two_commits_on_one_parent_exactly_one_wins(
    hub: RunningHub, author: HfApi, dataset: str
) -> None:
    for turn in range(5):
        parent = author.dataset_info(dataset).sha
        barrier = threading.Barrier(2)

        def attempt(
            name: str, parent: str | None = parent, barrier: threading.Barrier = barrier
        ) -> int:
            api = hub.api("author")
            barrier.wait()
            try:
                commit(api, dataset, name, parent)
            except HfHubHTTPError as refused:
                return refused.response.status_code
            return 200

        with ThreadPoolExecutor(2) as pool:
            statuses = list(pool.map(attempt, [f"{turn}-a.txt", f"{turn}-b.txt"]))
        assert sorted(statuses) == [200, 412]
    assert len(author.list_repo_commits(dataset, repo_type="dataset")) == 7


def test_concurrent_commits_without_a_parent_all_land(
    hub: RunningHub, author: HfApi, dataset: str
) -> None:
    names = [f"file-{number}.txt" for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda name: commit(hub.api("author"), dataset, name), names))
    assert set(names) < set(author.list_repo_files(dataset, repo_type="dataset"))
    assert len(author.list_repo_commits(dataset, repo_type="dataset")) == 14


def test_a_repository_is_created_once(hub: RunningHub) -> None:
    def attempt(_number: int) -> int:
        try:
            hub.api("author").create_repo("author/once", repo_type="dataset")
        except HfHubHTTPError as refused:
            return refused.response.status_code
        return 200

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(attempt, range(4))) == [200, 409, 409, 409]


def test_everything_is_there_after_a_restart(own_hub: Callable[[], RunningHub]) -> None:
    first = own_hub()
    api = first.api("author")
    api.create_repo("author/kept", repo_type="dataset", private=True)
    api.create_repo("author/gone", repo_type="dataset")
    sha = commit(api, "author/kept", "x.txt")
    api.create_tag("author/kept", tag="v1", repo_type="dataset")
    created = api.dataset_info("author/kept").created_at
    api.delete_repo("author/gone", repo_type="dataset")
    assert first.stop() == 0
    second = own_hub()
    info = second.api("author").dataset_info("author/kept", revision="v1")
    assert (info.sha, info.private, info.created_at) == (sha, True, created)
    assert not second.api("rival").repo_exists("author/kept", repo_type="dataset")
    assert not second.api("author").repo_exists("author/gone", repo_type="dataset")


def test_ctrl_c_ends_it_well(own_hub: Callable[[], RunningHub]) -> None:
    running = own_hub()
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(timeout=20) == 0


def test_killed_between_and_during_commits(own_hub: Callable[[], RunningHub]) -> None:
    running = own_hub()
    api = running.api("author")
    api.create_repo("author/k", repo_type="dataset")
    answered: list[str] = []

    def write_until_cut_off() -> None:
        # Not with the client, which would go on asking a dead server for half a minute.
        address = f"{running.url}/api/datasets/author/k/commit/main"
        with httpx.Client(headers=bearer("author")) as http:
            for number in range(10_000):
                body = (
                    '{"key": "header", "value": {"summary": "x"}}\n'
                    f'{{"key": "file", "value": {{"path": "{number}.txt", "content": "eA=="}}}}'
                )
                try:
                    answered.append(http.post(address, content=body).json()["commitOid"])
                except httpx.HTTPError:
                    return

    writer = threading.Thread(target=write_until_cut_off)
    writer.start()
    while len(answered) < 5:
        writer.join(0.01)
    running.process.kill()
    writer.join()
    output = fsck(running.git_dir("author/k"))
    assert "missing" not in output
    assert "corrupt" not in output
    again = own_hub()
    api = again.api("author")
    log = {entry.commit_id for entry in api.list_repo_commits("author/k", repo_type="dataset")}
    assert set(answered) <= log
    assert len(log) - len(answered) in (1, 2)  # the initial one, and one that lost its answer
    commit(api, "author/k", "after.txt")
    assert fsck(again.git_dir("author/k")).count("missing") == 0


def test_the_locks_of_a_git_killed_with_the_server_are_cleared(
    own_hub: Callable[[], RunningHub],
) -> None:
    running = own_hub()
    running.api("author").create_repo("author/l", repo_type="dataset")
    running.process.kill()
    running.process.wait()
    (running.git_dir("author/l") / "refs" / "heads" / "main.lock").touch()
    (running.data / "scratch" / "half-built").mkdir()
    commit(own_hub().api("author"), "author/l", "x.txt")
    assert not (running.data / "scratch" / "half-built").exists()


def test_readers_make_room_under_load(tmp_path: Path) -> None:
    repositories = Repositories(tmp_path)
    repos = [
        repositories.create(RepoType.DATASET, "author", name, creator="author", private=False)
        for name in "abcdefghijkl"
    ]
    readers = ObjectReaders(limit=2)
    heads = [repo.commit_at("main").sha for repo in repos]

    def read(number: int) -> bool:
        found = readers.read(repos[number % 12].git_dir, "refs/heads/main^{commit}")
        return found is not None and found.oid == heads[number % 12]

    with ThreadPoolExecutor(12) as pool:
        assert all(pool.map(read, range(480)))
    readers.close_all()
    repositories.close()


def test_two_servers_do_not_share_data(hub: RunningHub) -> None:
    with pytest.raises(AssertionError):
        start_hub(hub.data)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.com"])
def test_only_the_loopback_address_is_served(tmp_path: Path, host: str) -> None:
    command = [sys.executable, "-m", "arena.localhub", "--data", str(tmp_path), "--host", host]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 2
    assert "this computer only" in result.stderr
