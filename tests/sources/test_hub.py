"""The Hub as a source: what is asked of it, and what each of its refusals is called."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from starlette.responses import JSONResponse, Response

from arena.errors import SourceLimited
from arena.sources import FileCache, HubSource, PinnedSource, RefusedSource, parse_source
from tests.collections import upload
from tests.hub import RunningHub
from tests.hubfront import HubFront
from tests.sources.conftest import error_of


@pytest.fixture
def front(hub: RunningHub) -> Iterator[HubFront]:
    running = HubFront(hub.url)
    yield running
    running.close()


@pytest.fixture
def source(front: HubFront, tmp_path: Path) -> HubSource:
    return HubSource(front.url, FileCache(tmp_path / "files"))


@pytest.fixture
def repo(hub: RunningHub, tmp_path: Path) -> str:
    """A dataset of three files."""
    folder = tmp_path / "repo"
    for path in ("tasks/a/task.md", "tasks/b/task.md", "README.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"{path} {tmp_path.name}\n")
    name = f"author/s-{uuid4().hex[:8]}"
    upload(hub.api("author"), name, folder)
    return name


def test_one_call_for_the_tree_and_one_for_each_file_not_kept(
    front: HubFront, source: HubSource, hub: RunningHub, repo: str, tmp_path: Path
) -> None:
    pinned = source.resolve(parse_source(f"hf:{repo}@main"))
    front.asked.clear()
    source.fetch(pinned, tmp_path / "one")
    card = 1  # the hub's own .gitattributes or card, where it makes one
    files = sum(path.is_file() for path in (tmp_path / "one").rglob("*"))
    assert files in {3, 3 + card}
    trees = [path for path in front.paths() if "/tree/" in path]
    gets = [path for path in front.paths() if "/resolve/" in path]
    assert (len(trees), len(gets), len(front.asked)) == (1, files, 1 + files)
    assert {method for method, _ in front.asked} == {"GET"}

    front.asked.clear()
    source.fetch(pinned, tmp_path / "two")
    assert front.asked == [], "a commit never changes"

    changed = hub.api("author").upload_file(
        path_or_fileobj=b"changed\n",
        path_in_repo="tasks/a/task.md",
        repo_id=repo,
        repo_type="dataset",
    )
    source.fetch(PinnedSource.parse(f"hf:{repo}@{changed.oid}"), tmp_path / "three")
    assert len(front.asked) == 2, "one tree, and the one file that changed"


def test_a_subpath_is_all_that_is_fetched(source: HubSource, repo: str, tmp_path: Path) -> None:
    pinned = source.resolve(parse_source(f"hf:{repo}@main:tasks/a"))
    source.fetch(pinned, tmp_path / "x")
    assert [p.name for p in (tmp_path / "x").rglob("*")] == ["task.md"]
    for wrong in ("tasks/c", "tasks/a/task.md"):
        pinned = source.resolve(parse_source(f"hf:{repo}@main:{wrong}"))
        assert error_of(lambda: source.fetch(pinned, tmp_path / "y")).code == "subpath_not_found"  # noqa: B023


def test_a_small_file_is_one_call(front: HubFront, source: HubSource, repo: str) -> None:
    pinned = source.resolve(parse_source(f"hf:{repo}@main:tasks/a"))
    front.asked.clear()
    assert (source.read_small(pinned, "task.md") or "").startswith("tasks/a/task.md")
    assert source.read_small(pinned, "submission.yaml") is None
    assert len(front.asked) == 2


def test_files_in_lfs_and_xet_are_fetched_and_believed_by_their_digest(
    front: HubFront, source: HubSource, repo: str, tmp_path: Path
) -> None:
    front.stored_apart = {"tasks/a/task.md"}
    pinned = source.resolve(parse_source(f"hf:{repo}@main:tasks"))
    source.fetch(pinned, tmp_path / "x")
    assert (tmp_path / "x/a/task.md").read_text().startswith("tasks/a/task.md")
    assert any(path.startswith("/apart") for path in front.paths())
    front.refuse = lambda path: Response("another\n") if path.startswith("/apart") else None
    again = HubSource(front.url, FileCache(tmp_path / "other"))
    assert error_of(lambda: again.fetch(pinned, tmp_path / "y")).code == "hub_unavailable"


def test_no_more_is_read_than_is_listed(
    front: HubFront, source: HubSource, repo: str, tmp_path: Path
) -> None:
    pinned = source.resolve(parse_source(f"hf:{repo}@main"))
    front.refuse = lambda path: Response("x" * 10_000_000) if "/resolve/" in path else None
    assert error_of(lambda: source.fetch(pinned, tmp_path / "x")).code == "hub_unavailable"


def test_too_much_is_refused_before_a_file_is_fetched(
    front: HubFront, source: HubSource, repo: str, tmp_path: Path
) -> None:
    pinned = source.resolve(parse_source(f"hf:{repo}@main"))
    row = {"type": "file", "oid": "f" * 40, "size": 31 * 1024 * 1024, "path": "x"}
    for rows, code in (
        ([{**row, "path": f"x{n}"} for n in range(9)], "TP008"),
        ([{**row, "size": 33 * 1024 * 1024}], "TP008"),
        ([{**row, "size": 1, "path": f"x{n}"} for n in range(20_001)], "TP008"),
        ([{**row, "size": 1, "path": "../x"}], "TP007"),
        ([{**row, "size": 1, "path": "a/.git/config"}], "TP007"),
    ):
        front.refuse = lambda path: JSONResponse(rows) if "/tree/" in path else None  # noqa: B023
        front.asked.clear()
        with pytest.raises(RefusedSource) as caught:
            source.fetch(pinned, tmp_path / "x")
        assert caught.value.finding.code == code
        assert len(front.asked) == 1
        assert not (tmp_path / "x").exists()


def test_what_is_renamed_is_not_the_old_owners(
    front: HubFront, source: HubSource, repo: str, tmp_path: Path
) -> None:
    front.renamed["rival/before"] = repo
    moved = error_of(lambda: source.resolve(parse_source("hf:rival/before@main")))
    assert moved.code == "source_moved"
    assert f"hf:{repo}@main" in moved.next
    pinned = source.resolve(parse_source(f"hf:{repo}@main"))
    before = PinnedSource.parse(f"hf:rival/before@{pinned.commit}")
    source.fetch(before, tmp_path / "x")
    assert (tmp_path / "x/README.md").exists(), "renamed after it was pinned"


def test_what_cannot_be_read_is_said_in_one_way_each(
    front: HubFront, source: HubSource, hub: RunningHub, repo: str, tmp_path: Path
) -> None:
    def code(address: str) -> str:
        return error_of(lambda: source.resolve(parse_source(address))).code

    assert code("hf:author/nothing@main") == "source_not_found"
    assert code(f"hf:{repo}@nope") == "revision_not_found"
    api = hub.api("author")
    api.update_repo_settings(repo, repo_type="dataset", gated="auto")
    assert code(f"hf:{repo}@main") == "source_gated"
    api.update_repo_settings(repo, repo_type="dataset", gated=False)
    pinned = source.resolve(parse_source(f"hf:{repo}@main"))
    gone = PinnedSource.parse(f"hf:{repo}@{'0' * 40}")
    assert error_of(lambda: source.fetch(gone, tmp_path / "x")).code == "revision_not_found"
    disabled = {"X-Error-Message": "Access to this resource is disabled."}
    front.refuse = lambda _: Response("{}", 403, disabled)
    assert code(f"hf:{repo}@main") == "source_disabled"
    assert error_of(lambda: source.fetch(pinned, tmp_path / "x")).code == "source_disabled"
    front.refuse = lambda _: None
    api.update_repo_settings(repo, repo_type="dataset", private=True)
    assert code(f"hf:{repo}@main") == "source_not_found"
    api.delete_repo(repo, repo_type="dataset")
    assert error_of(lambda: source.fetch(pinned, tmp_path / "x")).code == "source_not_found"


@pytest.mark.parametrize(
    ("headers", "at_least"),
    [
        (
            {"RateLimit": '"api";r=0;t=77', "RateLimit-Policy": '"fixed window";"api";q=500;w=300'},
            76,
        ),
        ({"Retry-After": "77"}, 76),
        ({}, 50),
    ],
)
def test_a_limit_says_until_when(
    front: HubFront,
    source: HubSource,
    repo: str,
    tmp_path: Path,
    headers: dict[str, str],
    at_least: float,
) -> None:
    pinned = source.resolve(parse_source(f"hf:{repo}@main"))
    for place in ("/tree/", "/resolve/"):
        front.refuse = lambda path: Response("", 429, headers) if place in path else None  # noqa: B023
        limited = error_of(lambda: source.fetch(pinned, tmp_path / "x"))
        assert isinstance(limited, SourceLimited)
        assert limited.until
        assert (limited.until - datetime.now(UTC)).total_seconds() > at_least
        assert "The Hub" in limited.message


def test_a_limit_in_the_middle_of_a_tree_gives_the_thread_back(
    front: HubFront, source: HubSource, repo: str, tmp_path: Path
) -> None:
    pinned = source.resolve(parse_source(f"hf:{repo}@main"))
    row = {"type": "file", "oid": "f" * 40, "size": 1, "path": "x"}
    following = {"Link": f'<{front.url}/api/next>; rel="next"'}

    def refuse(path: str) -> Response | None:
        if path == "/api/next":
            return Response("", 429, {"Retry-After": "3600"})
        return JSONResponse([row], headers=following) if "/tree/" in path else None

    front.refuse = refuse
    assert error_of(lambda: source.fetch(pinned, tmp_path / "x")).code == "source_limited"


@pytest.mark.parametrize("answer", [Response("", 500), Response("<html>"), Response('{"a": 1}')])
def test_no_answer_is_said_so(
    front: HubFront, source: HubSource, repo: str, tmp_path: Path, answer: Response
) -> None:
    pinned = source.resolve(parse_source(f"hf:{repo}@main"))
    front.refuse = lambda _: answer
    assert error_of(lambda: source.resolve(pinned.source)).code == "hub_unavailable"
    assert error_of(lambda: source.fetch(pinned, tmp_path / "x")).code == "hub_unavailable"
