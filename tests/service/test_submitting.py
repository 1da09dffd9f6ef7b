"""Entering a collection: who may, what is refused, what becomes of it."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from arena.errors import ArenaError, LimitReached
from arena.identity import Identity
from arena.nearcopies import METHOD, SealedIndex
from arena.service import Arena
from arena.settings import Settings
from tests.collections import upload, write_collection, write_package
from tests.hub import RunningHub
from tests.service.conftest import limit, refusal, settled, wait_for

Who = Callable[[str], Identity]
Collection = Callable[..., str]


def test_the_example_becomes_valid_stage_by_stage(arena: Arena, who: Who, published: str) -> None:
    entered = arena.submit(who("author"), "hf:author/example-collection@main", "Example")
    assert entered.commit == published, "the branch is pinned to its commit"
    view = settled(arena, entered.id)
    assert (view.state, view.packages, view.findings) == ("valid", 12, [])
    assert [stage.stage for stage in view.stages] == ["fetching", "checking", "comparing"]
    assert view.near_copies == METHOD


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("hf:author/nothing-here@main", "source_not_found"),
        ("hf:arena/demo-suite@v1", "source_not_found"),
        ("hf:arena/demo-suite-index@v1", "source_not_found"),
        ("hf:author/example-collection@nope", "revision_not_found"),
        ("hf:author/example-collection@main:../x", "bad_source"),
        ("example-collection", "bad_source"),
        ("hf:author/../x@main", "bad_source"),
        ("gitlab:author/x@main", "bad_source"),
        ("", "bad_source"),
        ("x" * 5000, "bad_source"),
    ],
)
def test_what_is_no_public_dataset_is_refused(
    arena: Arena, who: Who, published: str, source: str, code: str
) -> None:
    assert refusal(lambda: arena.submit(who("author"), source, "T")) == code
    assert len(arena.read.submission_views()) == 0


def test_the_suite_answers_as_what_does_not_exist(arena: Arena, who: Who, published: str) -> None:
    def message(name: str) -> str:
        with pytest.raises(ArenaError) as caught:
            arena.submit(who("editor"), f"hf:arena/{name}@v1", "T")
        return str(caught.value).replace(name, "NAME") + caught.value.next

    assert message("demo-suite") == message("never-was")


def test_a_private_or_gated_dataset_is_refused(
    arena: Arena, who: Who, hub: RunningHub, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = write_collection(tmp_path_factory.mktemp("c"))
    api = hub.api("author")
    upload(api, "author/private-one", folder, private=True)
    submit = lambda name: arena.submit(who("author"), f"hf:author/{name}@main", "T")  # noqa: E731
    assert refusal(lambda: submit("private-one")) == "source_not_found"
    upload(api, "author/gated-one", folder)
    api.update_repo_settings("author/gated-one", repo_type="dataset", gated="auto")
    assert refusal(lambda: submit("gated-one")) == "source_gated"


def test_only_who_has_the_rights_submits(arena: Arena, who: Who, collection: Collection) -> None:
    source = collection("author")
    assert refusal(lambda: arena.submit(who("rival"), source, "Mine")) == "not_yours"
    assert refusal(lambda: arena.submit(who("editor"), source, "Mine")) == "not_yours"
    assert arena.submit(who("author"), source, "Mine").by == "author"


def test_members_and_the_organization_have_the_rights(
    arena: Arena, who: Who, collection: Collection
) -> None:
    shared = collection("author", files={"submission.yaml": "members: [Rival]\n"})
    assert arena.submit(who("rival"), shared, "Ours").by == "rival"
    of_the_organization = collection("editor", repo="arena/a-collection")
    assert refusal(lambda: arena.submit(who("author"), of_the_organization, "T")) == "not_yours"
    assert arena.submit(who("editor"), of_the_organization, "T").by == "editor"


def test_members_count_only_where_the_owner_published_them(
    arena: Arena, who: Who, hub: RunningHub, collection: Collection
) -> None:
    api = hub.api("author")
    repo = collection("author").removeprefix("hf:").partition("@")[0]
    api.create_branch(repo, branch="proposal", repo_type="dataset")
    proposed = api.upload_file(
        path_or_fileobj=b"members: [rival]\n",
        path_in_repo="submission.yaml",
        repo_id=repo,
        repo_type="dataset",
        revision="proposal",
    ).oid
    source = f"hf:{repo}@{proposed}"
    assert refusal(lambda: arena.submit(who("rival"), source, "T")) == "not_yours"
    assert arena.submit(who("author"), source, "T").by == "author"


def test_members_that_are_no_list_give_nobody_rights(
    arena: Arena, who: Who, collection: Collection
) -> None:
    odd = collection("author", files={"submission.yaml": "members: rival\n"})
    assert refusal(lambda: arena.submit(who("rival"), odd, "T")) == "not_yours"


@pytest.mark.parametrize("title", ["", "   ", "x" * 121, "a\u202eb"])
def test_a_title_is_one_line_that_can_be_shown(
    arena: Arena, who: Who, collection: Collection, title: str
) -> None:
    assert refusal(lambda: arena.submit(who("author"), collection(), title)) == "bad_request"


def test_one_commit_is_entered_once(arena: Arena, who: Who, collection: Collection) -> None:
    source = collection()
    first = arena.submit(who("author"), source, "T")
    assert refusal(lambda: arena.submit(who("author"), source, "T")) == "already_submitted"
    settled(arena, first.id)
    assert refusal(lambda: arena.submit(who("author"), source, "T")) == "already_submitted"


def test_the_same_content_is_never_two_collections(
    arena: Arena, who: Who, hub: RunningHub, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = write_collection(tmp_path_factory.mktemp("c"), word="same")
    upload(hub.api("author"), "author/original", folder)
    upload(hub.api("rival"), "rival/copy", folder)
    first = arena.submit(who("author"), "hf:author/original@main", "Original")
    assert settled(arena, first.id).state == "valid"
    copy = settled(arena, arena.submit(who("rival"), "hf:rival/copy@main", "Copy").id)
    assert (copy.state, copy.code) == ("invalid", "duplicate_collection")


def test_the_same_idempotency_key_enters_once(
    arena: Arena, who: Who, collection: Collection
) -> None:
    source = collection()
    first = arena.submit(who("author"), source, "T", key="one")
    assert arena.submit(who("author"), source, "T", key="one").id == first.id
    assert len(arena.read.submission_views()) == 1
    shared_key = arena.submit(who("rival"), collection("rival"), "T", key="one")
    assert shared_key.id != first.id, "a key is its user's own"


def test_a_copy_of_a_suite_task_is_refused_without_saying_which(
    arena: Arena, who: Who, hub: RunningHub, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from local.demo.tasks import write_suite

    suite = write_suite(tmp_path_factory.mktemp("suite"), 8)
    folder = tmp_path_factory.mktemp("c")
    stolen = suite[0].rename(folder / "my-own-name")
    upload(hub.api("author"), "author/stolen", folder)
    view = settled(arena, arena.submit(who("author"), "hf:author/stolen@main", "T").id)
    assert (view.state, view.code) == ("invalid", "near_copy")
    assert "my-own-name" in (view.reason or "")
    assert suite[0].name not in view.model_dump_json()
    assert stolen.exists()


def test_what_does_not_parse_is_invalid_with_findings(
    arena: Arena, who: Who, hub: RunningHub, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("c")
    write_package(folder / "broken-task", {"task.md": "---\na: [\n---\n"})
    upload(hub.api("author"), "author/broken", folder)
    view = settled(arena, arena.submit(who("author"), "hf:author/broken@main", "T").id)
    assert (view.state, view.code, view.runs) == ("invalid", "findings", [])
    finding = view.findings[0]
    assert (finding.package, finding.code, finding.file) == ("broken-task", "TP002", "task.md")
    assert finding.line == 2
    assert finding.hint


def test_empty_and_huge_datasets_are_invalid(
    arena: Arena, who: Who, hub: RunningHub, tmp_path_factory: pytest.TempPathFactory
) -> None:
    empty = tmp_path_factory.mktemp("empty")
    (empty / "README.md").write_text("# Nothing\n")
    upload(hub.api("author"), "author/empty", empty)
    view = settled(arena, arena.submit(who("author"), "hf:author/empty@main", "T").id)
    assert (view.state, [f.code for f in view.findings]) == ("invalid", ["TP009"])
    tables = tmp_path_factory.mktemp("tables")
    (tables / "train.parquet").write_bytes(b"PAR1" * 1000)
    upload(hub.api("author"), "author/tables", tables)
    view = settled(arena, arena.submit(who("author"), "hf:author/tables@main", "T").id)
    assert (view.state, [f.code for f in view.findings]) == ("invalid", ["TP009"])
    assert "task.md" in view.findings[0].hint, "it says what a collection is"
    huge = tmp_path_factory.mktemp("huge")
    write_package(huge / "a-b", {"environment/big.bin": "x" * (33 * 1024 * 1024)})
    upload(hub.api("author"), "author/huge", huge)
    view = settled(arena, arena.submit(who("author"), "hf:author/huge@main", "T").id)
    assert (view.state, [f.code for f in view.findings]) == ("invalid", ["TP008"])
    many = tmp_path_factory.mktemp("many")
    for number in range(201):
        write_package(many / f"p-{number}")
    upload(hub.api("author"), "author/many", many)
    view = settled(arena, arena.submit(who("author"), "hf:author/many@main", "T").id)
    assert (view.state, [f.code for f in view.findings]) == ("invalid", ["TP009"])


def test_attempts_are_limited_by_the_hour(
    arena: Arena, who: Who, hub: RunningHub, collection: Collection
) -> None:
    limit(arena, validations_per_author_per_hour=2)
    first = arena.submit(who("author"), collection(), "T")
    arena.submit(who("author"), collection(), "T")
    with pytest.raises(LimitReached) as caught:
        arena.submit(who("author"), collection(), "T")
    ends = f"{first.at + timedelta(hours=1):%Y-%m-%d %H:%M:%S} UTC"
    assert ends in caught.value.next, "the window rolls: it ends an hour after the oldest in it"
    assert arena.submit(who("rival"), collection("rival"), "T"), "another author has their own"


def test_a_limit_over_all_authors_together(arena: Arena, who: Who, collection: Collection) -> None:
    limit(arena, validations_per_hour=2)
    arena.submit(who("author"), collection(), "T")
    arena.submit(who("rival"), collection("rival"), "T")
    assert refusal(lambda: arena.submit(who("editor"), collection("editor"), "T")) == (
        "limit_reached"
    )


def test_a_refused_attempt_counts_where_it_cost_a_look_at_the_hub(
    arena: Arena, who: Who, published: str, collection: Collection
) -> None:
    limit(arena, validations_per_author_per_hour=3)
    submit = lambda source: refusal(lambda: arena.submit(who("rival"), source, "T"))  # noqa: E731
    assert submit("over there") == "bad_source"
    assert submit("hf:author/nothing-here@main") == "source_not_found"
    assert submit("hf:author/example-collection@main") == "not_yours"
    own = collection("rival")
    arena.submit(who("rival"), own, "T")
    assert submit(own) == "limit_reached"
    assert submit("hf:author/nothing-here@main") == "limit_reached", "not asked of the Hub again"


def test_refused_attempts_count_over_a_restart(
    start_arena: Callable[..., Arena], who: Who, published: str, collection: Collection
) -> None:
    first = start_arena()
    for _ in range(2):
        source = "hf:author/nothing-here@main"
        assert refusal(lambda: first.submit(who("rival"), source, "T")) == "source_not_found"  # noqa: B023
    first.close()
    second = start_arena()
    limit(second, validations_per_author_per_hour=2)
    with pytest.raises(LimitReached) as caught:
        second.submit(who("rival"), collection("rival"), "T")
    assert "2 are used, attempts included" in caught.value.message
    assert second.submit(who("author"), collection("author"), "T")


def test_what_is_kept_of_attempts_may_be_broken(
    start_arena: Callable[..., Arena], settings: Settings, who: Who, collection: Collection
) -> None:
    settings.data.mkdir(exist_ok=True)
    (settings.data / "attempts.json").write_text('[{"by": 1')
    assert start_arena().submit(who("author"), collection(), "T")


def test_a_validation_that_the_platform_failed_is_refunded(
    arena: Arena, who: Who, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(arena, validations_per_author_per_hour=1)

    def broken() -> dict[str, SealedIndex]:
        raise RuntimeError("a fault of the arena's own")

    with monkeypatch.context() as patch:
        patch.setattr(arena.suites, "all", broken)
        failed = arena.submit(who("author"), collection(), "T").id
        assert settled(arena, failed).state == "failed"
        tried = arena.validate(who("author"), collection()).id
        wait_for(lambda: arena.validation(who("author"), tried).state == "failed")
    assert arena.submit(who("author"), collection(), "T")
    assert refusal(lambda: arena.submit(who("author"), collection(), "T")) == "limit_reached"


def test_submissions_under_validation_are_limited_and_withdrawing_frees(
    arena: Arena, who: Who, collection: Collection
) -> None:
    limit(arena, active_submissions=1)
    arena._validator.close()
    waiting = arena.submit(who("author"), collection(), "T").id
    assert refusal(lambda: arena.submit(who("author"), collection(), "T")) == "too_many_active"
    arena.withdraw(who("author"), waiting, "Another goes first.")
    assert arena.submit(who("author"), collection(), "T")


def test_a_new_process_takes_up_what_was_not_validated(
    start_arena: Callable[..., Arena], who: Who, collection: Collection
) -> None:
    first = start_arena()
    first._validator.close()  # as if the process ended right after the record landed
    submission = first.submit(who("author"), collection(), "T").id
    assert first.read.submission_detail(submission).state == "queued"
    second = start_arena()
    assert settled(second, submission).state == "valid"
