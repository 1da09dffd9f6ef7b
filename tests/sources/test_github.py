"""GitHub as a source: what is asked of it, whose word counts, what each refusal says."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.responses import JSONResponse, Response

from arena.errors import SourceLimited
from arena.settings import GitHubSettings
from arena.sources import FileCache, GitHubSource, PinnedSource, RefusedSource, parse_source
from tests.localgithub import LocalGitHub
from tests.sources.conftest import TOKEN, error_of

FILES = {
    "tasks/a/task.md": "text\n",
    "tasks/submission.yaml": "members: [rival]\n",
    "README": "r\n",
}


def resolved(source: GitHubSource, revision: str = "main", subpath: str = "tasks") -> PinnedSource:
    return source.resolve(parse_source(f"github:Owner/repo@{revision}:{subpath}"))


def test_a_revision_becomes_a_commit(github: LocalGitHub, source: GitHubSource) -> None:
    repo = github.create("Owner/repo", FILES)
    first = repo.git("rev-parse", "HEAD")
    repo.git("tag", "-a", "v1", "-m", "one")
    repo.git("branch", "feature/x")
    second = repo.commit({"more": "m\n"})
    for revision, commit in (
        ("main", second), ("v1", first), ("feature/x", first), (first, first), (first[:8], first),
    ):  # fmt: skip
        assert resolved(source, revision).commit == commit
    assert source.resolve(parse_source("github:Owner/repo")).commit == second, "its own branch"
    pinned = resolved(source)
    assert str(pinned) == f"github:Owner/repo@{second}:tasks"
    assert PinnedSource.parse(str(pinned)).commit == second


def test_one_archive_for_all_files_and_none_for_what_is_kept(
    github: LocalGitHub, source: GitHubSource, tmp_path: Path
) -> None:
    repo = github.create("Owner/repo", FILES)
    (repo.folder / "tasks/run.sh").write_text("#!/bin/sh\n")
    (repo.folder / "tasks/run.sh").chmod(0o755)
    repo.commit()
    pinned = resolved(source)
    github.asked.clear()
    source.fetch(pinned, tmp_path / "one")
    assert github.paths() == [f"/repos/Owner/repo/tarball/{pinned.commit}"]
    assert len(github.paths("archives")) == 1
    found = {str(p.relative_to(tmp_path / "one")) for p in (tmp_path / "one").rglob("*")}
    assert found == {"a", "a/task.md", "submission.yaml", "run.sh"}
    assert not (tmp_path / "one/run.sh").stat().st_mode & 0o100, "as it would come from the Hub"

    github.delete("Owner/repo")
    github.asked.clear()
    again = GitHubSource(github.url, FileCache(tmp_path / "files"))
    again.fetch(pinned, tmp_path / "two")
    assert (tmp_path / "two/a/task.md").read_text() == "text\n", "also after it is gone"
    assert github.asked == []


def test_the_token_goes_to_the_api_alone(
    github: LocalGitHub, source: GitHubSource, tmp_path: Path
) -> None:
    github.create("Owner/repo", FILES)
    source.fetch(resolved(source), tmp_path / "one")
    assert {a.authorization for a in github.asked if a.site == "api"} == {f"Bearer {TOKEN}"}
    assert {a.authorization for a in github.asked if a.site == "archives"} == {None}
    assert TOKEN not in repr(GitHubSettings(github.url, TOKEN))


def test_a_small_file_is_one_call(github: LocalGitHub, source: GitHubSource) -> None:
    repo = github.create("Owner/repo", {**FILES, "tasks/large": "x" * 300_000})
    pinned = resolved(source)
    github.asked.clear()
    assert source.read_small(pinned, "submission.yaml") == "members: [rival]\n"
    assert len(github.asked) == 1
    assert source.read_small(pinned, "nothing.yaml") is None
    assert source.read_small(pinned, "large") is None
    assert repo.git("status", "--porcelain") == ""


def test_whose_word_counts(github: LocalGitHub, source: GitHubSource) -> None:
    repo = github.create("Owner/repo", FILES)
    older = repo.git("rev-parse", "HEAD")
    head = repo.commit({"more": "m\n"})
    repo.git("checkout", "-q", "-b", "feature")
    branch = repo.commit({"more": "branch\n"})
    repo.git("checkout", "-q", "main")
    proposed = repo.propose({"tasks/submission.yaml": "members: [mallory]\n"})

    def counts(commit: str) -> bool:
        return source.is_on_main(resolved(source, commit))

    assert [counts(head), counts(older), counts(branch)] == [True, True, True]
    assert resolved(source, proposed).commit == proposed, "it can be named through the parent"
    assert not counts(proposed)
    assert not counts(proposed[:10])
    pinned = resolved(source, head)
    github.asked.clear()
    assert source.is_on_main(pinned)
    assert len(github.asked) == 1, "the usual case costs one call"


def test_what_cannot_be_read_is_said_in_one_way_each(
    github: LocalGitHub, source: GitHubSource, tmp_path: Path
) -> None:
    def code(address: str) -> str:
        return error_of(lambda: source.resolve(parse_source(address))).code

    github.create("owner/private", FILES).private = True
    github.create("owner/disabled", FILES).disabled = True
    github.create("owner/blocked", FILES).blocked = True
    github.create("owner/empty")
    github.create("owner/old", FILES)
    github.rename("owner/old", "Other/new")
    github.create("owner/repo", FILES)
    assert code("github:owner/nothing") == "source_not_found"
    assert code("github:owner/private@main") == "source_not_found", "though the token may read it"
    assert code("github:owner/disabled") == "source_disabled"
    assert code("github:owner/blocked") == "source_disabled"
    assert code("github:owner/empty") == "revision_not_found"
    assert code("github:owner/repo@nope") == "revision_not_found"
    assert code("github:owner/repo@" + "0" * 40) == "revision_not_found"
    moved = error_of(lambda: source.resolve(parse_source("github:owner/old@main")))
    assert moved.code == "source_moved"
    assert "github:Other/new@main" in moved.next
    pinned = source.resolve(parse_source("github:owner/repo@main:nowhere"))
    assert error_of(lambda: source.fetch(pinned, tmp_path / "x")).code == "subpath_not_found"


def test_what_went_away_after_it_was_pinned(
    github: LocalGitHub, source: GitHubSource, tmp_path: Path
) -> None:
    repo = github.create("Owner/repo", FILES)
    repo.commit({"more": "m\n"})
    pinned = resolved(source)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("update-ref", "-d", "ORIG_HEAD")
    repo.git("gc", "-q", "--prune=now")
    gone = error_of(lambda: source.fetch(pinned, tmp_path / "a"))
    assert (gone.code, pinned.commit in gone.message) == ("revision_not_found", True)
    kept = resolved(source)
    github.rename("Owner/repo", "Other/repo")
    source.fetch(kept, tmp_path / "b")
    assert (tmp_path / "b/a/task.md").exists(), "a commit is the same under another name"
    github.delete("Other/repo")
    other = PinnedSource.parse(str(kept).replace(":tasks", ""))
    assert error_of(lambda: source.fetch(other, tmp_path / "c")).code == "source_not_found"


def test_a_hostile_archive_is_refused_and_not_listed(
    github: LocalGitHub, source: GitHubSource, tmp_path: Path
) -> None:
    repo = github.create("Owner/repo", FILES)
    (repo.folder / "tasks/passwd").symlink_to("/etc/passwd")
    repo.commit()
    pinned = resolved(source)
    for number in range(2):
        with pytest.raises(RefusedSource, match="is a link"):
            source.fetch(pinned, tmp_path / str(number))
        assert not (tmp_path / str(number)).exists()


def test_a_limit_says_until_when_and_nothing_is_asked_before(
    github: LocalGitHub, source: GitHubSource
) -> None:
    github.create("Owner/repo", FILES)
    github.use_up(seconds=3)
    limited = error_of(lambda: resolved(source))
    assert isinstance(limited, SourceLimited)
    assert limited.until is not None
    assert f"{limited.until:%H:%M:%S} UTC" in limited.message
    assert len(github.asked) == 1
    assert error_of(lambda: resolved(source)).message == limited.message
    assert len(github.asked) == 1, "asking on would only make it worse"
    deadline = time.monotonic() + 20
    while datetime.now(UTC) < limited.until:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert resolved(source).commit


def test_the_last_request_of_an_hour_is_still_answered(
    github: LocalGitHub, source: GitHubSource
) -> None:
    github.create("Owner/repo", FILES)
    github.remaining = 2
    assert resolved(source).commit
    github.asked.clear()
    assert error_of(lambda: resolved(source)).code == "source_limited"
    assert github.asked == []


@pytest.mark.parametrize(
    ("status", "headers", "message"),
    [
        (403, {"Retry-After": "90"}, "Slow down."),
        (429, {"Retry-After": "90"}, "Slow down."),
        (429, {}, "Slow down."),
        (403, {}, "You have exceeded a secondary rate limit. Please wait a few minutes."),
        (403, {"X-RateLimit-Remaining": "0"}, "Forbidden"),
        (429, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "nonsense"}, ""),
        (429, {"Retry-After": "²"}, ""),
    ],
)
def test_secondary_limits_are_limits_too(
    github: LocalGitHub, source: GitHubSource, status: int, headers: dict[str, str], message: str
) -> None:
    github.create("Owner/repo", FILES)
    github.refusal = JSONResponse({"message": message}, status, headers)
    limited = error_of(lambda: resolved(source))
    assert isinstance(limited, SourceLimited)
    assert limited.until
    assert (limited.until - datetime.now(UTC)).total_seconds() > 50


def test_the_archives_have_limits_of_their_own(
    github: LocalGitHub, source: GitHubSource, tmp_path: Path
) -> None:
    github.create("Owner/repo", FILES)
    pinned = resolved(source)
    github.archives_refuse = Response("", 429)
    assert error_of(lambda: source.fetch(pinned, tmp_path / "x")).code == "source_limited"


@pytest.mark.parametrize(
    "answer",
    [
        Response("", 500),
        Response("", 502),
        Response("<html>", 200),
        Response("[]", 200),
        JSONResponse({"private": False, "full_name": "Owner/repo"}),
        Response('{"message": "Bad credentials"}', 401),
    ],
)
def test_no_answer_is_said_so(github: LocalGitHub, source: GitHubSource, answer: Response) -> None:
    github.create("Owner/repo", FILES)
    github.refusal = answer
    assert error_of(lambda: resolved(source)).code == "github_unavailable"


def test_a_broken_archive_is_no_collection(
    github: LocalGitHub, source: GitHubSource, tmp_path: Path
) -> None:
    repo = github.create("Owner/repo", FILES)
    pinned = resolved(source)
    whole = repo.tarball(pinned.commit)
    repo.archive = whole[: len(whole) // 2]
    assert error_of(lambda: source.fetch(pinned, tmp_path / "x")).code == "github_unavailable"
    repo.archive = None
    source.fetch(pinned, tmp_path / "y")


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    source = GitHubSource("http://127.0.0.1:9", FileCache(tmp_path / "files"))
    assert error_of(lambda: resolved(source)).code == "github_unavailable"
