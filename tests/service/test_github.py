"""A collection of GitHub through the whole arena: rights, waiting, release, a restart."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from starlette.responses import Response

from arena.errors import GitHubUnavailable, SourceLimited
from arena.identity import Identity
from arena.service import Arena
from arena.settings import GitHubSettings, Settings
from arena.waits import KeptWaits, next_wait
from tests.collections import upload, write_collection
from tests.hub import RunningHub
from tests.localgithub import GitRepository, LocalGitHub
from tests.service.conftest import refusal, settled, wait_for
from tests.service.scripted import scored
from tests.service.test_fronts import Fronts

Who = Callable[[str], Identity]
Start = Callable[..., Arena]


@pytest.fixture
def settings(settings: Settings, github: LocalGitHub) -> Settings:
    return replace(settings, github=GitHubSettings(github.url), lease_seconds=2)


@pytest.fixture
def repo(github: LocalGitHub, tmp_path: Path) -> GitRepository:
    """A sound collection below `tasks`, whose members are `author` and nobody else."""
    return published(github, tmp_path, "Lab/tasks")


def published(github: LocalGitHub, tmp_path: Path, name: str) -> GitRepository:
    word = f"w{uuid4().hex[:8]}"
    folder = write_collection(tmp_path / word, 4, word)
    made = github.create(name)
    shutil.copytree(folder, made.folder / "tasks")
    made.commit({"tasks/submission.yaml": "license: Apache-2.0\nmembers: [author]\n"})
    return made


SOURCE = "github:Lab/tasks@main:tasks"


def test_members_alone_have_the_rights(
    arena: Arena, who: Who, github: LocalGitHub, repo: GitRepository, tmp_path: Path
) -> None:
    entered = arena.submit(who("author"), SOURCE, "T")
    assert entered.source == f"github:Lab/tasks@{repo.git('rev-parse', 'HEAD')}:tasks"
    assert settled(arena, entered.id).state == "valid"
    assert refusal(lambda: arena.submit(who("rival"), SOURCE, "T")) == "not_yours"
    published(github, tmp_path, "rival/tasks")
    same_name = "github:rival/tasks@main:tasks"
    assert refusal(lambda: arena.submit(who("rival"), same_name, "T")) == "not_yours"
    submission = arena.submit(who("author"), same_name, "T").id
    assert settled(arena, submission).state == "valid"
    assert refusal(lambda: arena.launch(who("rival"), submission, "demo")) == "not_yours"
    assert not arena.read.may_launch(who("rival"), submission)
    assert arena.read.may_launch(who("author"), submission)


def test_a_proposal_gives_nobody_rights(arena: Arena, who: Who, repo: GitRepository) -> None:
    proposed = repo.propose({"tasks/submission.yaml": "members: [rival]\n"})
    source = f"github:Lab/tasks@{proposed}:tasks"
    assert refusal(lambda: arena.submit(who("rival"), source, "T")) == "not_yours"
    own = repo.commit({"tasks/submission.yaml": "license: Apache-2.0\nmembers: [Rival]\n"})
    assert arena.submit(who("rival"), f"github:Lab/tasks@{own}:tasks", "T").by == "rival"


def test_the_release_needs_the_repository_no_more(
    arena: Arena, who: Who, github: LocalGitHub, repo: GitRepository, hub: RunningHub
) -> None:
    submission = arena.submit(who("author"), SOURCE, "T").id
    assert settled(arena, submission).state == "valid"
    github.delete("Lab/tasks")
    run = arena.launch(who("author"), submission, "demo").id
    scored(arena, run)
    arena.review(who("editor"), run, "accepted", "Fine.")
    wait_for(lambda: arena.read.run_detail(run).release)
    release = arena.read.run_detail(run).release
    assert release is not None
    names = hub.api(None).list_repo_files(release.repo, repo_type="dataset")
    assert sum(name.endswith("/task.md") for name in names) == 4


def test_the_same_content_on_the_hub_and_on_github_is_one_collection(
    arena: Arena, who: Who, github: LocalGitHub, hub: RunningHub, tmp_path: Path
) -> None:
    word = f"w{uuid4().hex[:8]}"
    folder = write_collection(tmp_path / word, 4, word)
    for script in folder.rglob("*.sh"):
        script.chmod(0o755)  # which git keeps, and a dataset does not
    source = f"hf:author/c-{word}@{upload(hub.api('author'), f'author/c-{word}', folder)}"
    assert settled(arena, arena.submit(who("author"), source, "T").id).state == "valid"
    made = github.create("Lab/copy")
    shutil.copytree(folder, made.folder / "tasks")
    made.commit({"tasks/submission.yaml": "license: Apache-2.0\nmembers: [rival]\n"})
    assert "100755" in made.git("ls-files", "--stage")
    copy = arena.submit(who("rival"), "github:Lab/copy@main:tasks", "T").id
    assert settled(arena, copy).code == "duplicate_collection"


def said(api: str, *arguments: str) -> str:
    """What the command prints for somebody who reads it."""
    env = {**os.environ, "ARENA_URL": api, "HF_TOKEN": "hf_author"}
    command = [sys.executable, "-m", "arena", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout


def test_a_limit_makes_a_check_wait_and_it_goes_on_by_itself(
    arena: Arena, api: str, who: Who, github: LocalGitHub, repo: GitRepository
) -> None:
    github.archives_refuse = Response("", 429, {"Retry-After": "15"})
    submission = arena.submit(who("author"), SOURCE, "T").id
    wait_for(lambda: arena.read.submission_detail(submission).waiting_until)
    view = arena.read.submission_detail(submission)
    assert (view.state, view.reason, view.stages) == ("waiting", None, [])
    assert view.waiting_until is not None
    assert f"until {view.waiting_until:%Y-%m-%d %H:%M:%S} UTC" in (view.waits_for or "")
    assert view.waiting_until > datetime.now(UTC)
    code, answer, _ = Fronts(api).cli("author", "status", submission)
    assert (code, answer["submission"]["state"]) == (0, "waiting")
    assert answer["submission"]["waiting_until"]
    for arguments in (["status"], ["status", submission]):
        assert f"until {view.waiting_until:%Y-%m-%d %H:%M:%S} UTC" in said(api, *arguments)
    github.archives_refuse = None
    done = settled(arena, submission, 40)
    assert (done.state, done.waiting_until, done.waits_for) == ("valid", None, None)
    assert [stage.stage for stage in done.stages] == ["fetching", "checking", "comparing"]


def test_what_waits_takes_no_thread(
    arena: Arena, who: Who, github: LocalGitHub, collection: Callable[..., str], tmp_path: Path
) -> None:
    github.archives_refuse = Response("", 429, {"Retry-After": "3600"})
    for number in range(2):
        published(github, tmp_path, f"Lab/t{number}")
    limited = [f"github:Lab/t{number}@main:tasks" for number in range(2)]
    waiting = arena.submit(who("author"), limited[0], "T").id
    wait_for(lambda: arena.read.submission_detail(waiting).state == "waiting")
    assert refusal(lambda: arena.submit(who("author"), limited[1], "T")) == "source_limited"
    before = threading.active_count()
    done = [arena.submit(who("author"), collection(), "T").id for _ in range(3)]
    assert {settled(arena, submission).state for submission in done} == {"valid"}
    assert arena.read.submission_detail(waiting).state == "waiting"
    assert threading.active_count() <= before + 2


def test_many_wait_and_all_go_on(
    arena: Arena, who: Who, github: LocalGitHub, tmp_path: Path
) -> None:
    github.archives_refuse = Response("", 503)
    entered = []
    for number in range(6):
        published(github, tmp_path, f"Lab/t{number}")
        source = f"github:Lab/t{number}@main:tasks"
        entered.append(arena.submit(who("author"), source, "T").id)
    wait_for(lambda: all(s.state == "waiting" for s in arena.read.submission_views()))
    github.archives_refuse = None
    assert {settled(arena, submission).state for submission in entered} == {"valid"}


def test_a_restart_waits_on_as_long_as_it_would_have(
    start_arena: Start, who: Who, github: LocalGitHub, repo: GitRepository
) -> None:
    first = start_arena()
    github.archives_refuse = Response("", 429, {"Retry-After": "5"})
    submission = first.submit(who("author"), SOURCE, "T").id
    wait_for(lambda: first.read.submission_detail(submission).state == "waiting")
    first.close()
    before = first.read.submission_detail(submission)
    asked = len(github.asked)
    second = start_arena()
    wait_for(lambda: second.read.submission_detail(submission).state == "waiting")
    view = second.read.submission_detail(submission)
    assert (view.waiting_until, view.waits_for) == (before.waiting_until, before.waits_for)
    assert len(github.asked) == asked
    github.archives_refuse = None
    assert settled(second, submission).state == "valid"
    assert datetime.now(UTC) >= (before.waiting_until or datetime.max)


def test_a_restart_gives_no_more_patience(
    start_arena: Start,
    who: Who,
    github: LocalGitHub,
    repo: GitRepository,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(GitHubUnavailable, "patience", timedelta(seconds=8))
    github.archives_refuse = Response("", 502)
    arena = start_arena()
    submission = arena.submit(who("author"), SOURCE, "T").id
    began = set()
    for _ in range(3):
        wait_for(lambda: arena.read.submission_detail(submission).state == "waiting")  # noqa: B023
        arena.close()
        kept = KeptWaits(settings.data / "waits.json").of(submission)
        assert kept
        began.add(kept.began)
        arena = start_arena()
    assert len(began) == 1
    assert settled(arena, submission).code == "waited_too_long"


def test_what_waited_and_ended_is_forgotten(tmp_path: Path) -> None:
    kept = KeptWaits(tmp_path / "waits.json")
    wait = next_wait("sub_1", None, GitHubUnavailable(problem="status 502"))
    assert wait
    kept.keep(wait)
    assert KeptWaits(tmp_path / "waits.json").of("sub_1") == wait
    kept.end("sub_1")
    assert KeptWaits(tmp_path / "waits.json").of("sub_1") is None
    (tmp_path / "waits.json").write_text("[{")
    assert KeptWaits(tmp_path / "waits.json").of("sub_1") is None


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        (SourceLimited, Response("", 429, {"Retry-After": "1"})),
        (GitHubUnavailable, Response("", 502)),
    ],
)
def test_waiting_ends_with_a_reason(
    arena: Arena,
    who: Who,
    github: LocalGitHub,
    repo: GitRepository,
    monkeypatch: pytest.MonkeyPatch,
    kind: type,
    answer: Response,
) -> None:
    monkeypatch.setattr(kind, "patience", timedelta(seconds=3))
    github.archives_refuse = answer
    submission = arena.submit(who("author"), SOURCE, "T").id
    ended = settled(arena, submission)
    assert (ended.state, ended.code) == ("failed", "waited_too_long")
    assert "GitHub" in (ended.reason or "")
    github.archives_refuse = None
    again = _when_it_may(lambda: arena.submit(who("author"), SOURCE, "T").id)
    assert settled(arena, again).state == "valid"


def _when_it_may(call: Callable[[], str]) -> str:
    made: list[str] = []

    def tried() -> bool:
        try:
            made.append(call())
        except SourceLimited:
            return False
        return True

    wait_for(tried)
    return made[0]


def test_a_wrong_subpath_and_a_hostile_archive_are_the_authors(
    arena: Arena, who: Who, github: LocalGitHub, repo: GitRepository
) -> None:
    (repo.folder / "tasks/passwd").symlink_to("/etc/passwd")
    repo.commit()
    view = settled(arena, arena.submit(who("author"), SOURCE, "T").id)
    assert (view.state, [f.code for f in view.findings]) == ("invalid", ["TP007"])
    repo.commit({"submission.yaml": "members: [author]\n"})
    (repo.folder / "tasks/passwd").unlink()
    repo.commit()
    view = settled(arena, arena.submit(who("author"), "github:Lab/tasks", "T").id)
    assert view.state == "valid", "the default branch, and the folder `tasks` stands for the root"


def test_refused_attempts_count(arena: Arena, who: Who, github: LocalGitHub) -> None:
    limits = arena.challenges.arena.limits.model_copy(update={"validations_per_author_per_hour": 3})
    arena.challenges = arena.challenges.model_copy(
        update={"arena": arena.challenges.arena.model_copy(update={"limits": limits})}
    )
    submit = lambda: arena.submit(who("author"), "github:Lab/nothing", "T")  # noqa: E731
    assert [refusal(submit) for _ in range(4)] == ["source_not_found"] * 3 + ["limit_reached"]
    asked = len(github.asked)
    assert refusal(submit) == "limit_reached"
    assert len(github.asked) == asked, "nothing is asked for who is over the limit"
