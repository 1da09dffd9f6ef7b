"""Whose a content is, settled by an editor on record."""

from collections.abc import Callable

import pytest

from arena.identity import Identity
from arena.service import Arena
from tests.collections import upload, write_collection
from tests.hub import RunningHub
from tests.service.conftest import refusal, settled
from tests.service.scripted import scored

Who = Callable[[str], Identity]
Collection = Callable[..., str]


@pytest.fixture
def stolen(
    arena: Arena, who: Who, hub: RunningHub, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """A valid submission of `rival`, whose content `author` enters too late."""
    folder = write_collection(
        tmp_path_factory.mktemp("c"), 4, word=f"s{tmp_path_factory.mktemp('w').name}"
    )
    upload(hub.api("rival"), "rival/stolen", folder)
    upload(hub.api("author"), "author/own", folder)
    first = arena.submit(who("rival"), "hf:rival/stolen@main", "Stolen").id
    assert settled(arena, first).state == "valid"
    late = settled(arena, arena.submit(who("author"), "hf:author/own@main", "Own").id)
    assert late.code == "duplicate_collection"
    return first


def test_who_may_not_settle(arena: Arena, who: Who, stolen: str, collection: Collection) -> None:
    settle = lambda account, author="author", why="x": arena.settle_claim(  # noqa: E731
        who(account), stolen, author, why
    )
    assert refusal(lambda: settle("author")) == "not_editor"
    assert refusal(lambda: settle("rival", "rival")) == "not_editor"
    assert refusal(lambda: settle("editor_read")) == "weak_token"
    assert refusal(lambda: settle("editor", "editor")) == "own_collection"
    assert refusal(lambda: settle("editor", "no such/name")) == "bad_request"
    assert refusal(lambda: settle("editor", why=" ")) == "reason_required"
    own = arena.submit(who("editor"), collection("editor"), "T").id
    give_away = lambda: arena.settle_claim(who("editor"), own, "author", "x")  # noqa: E731
    assert refusal(give_away) == "own_collection"


def test_the_rights_go_to_the_settled_author_alone(arena: Arena, who: Who, stolen: str) -> None:
    run = arena.launch(who("rival"), stolen, "demo").id
    scored(arena, run)
    found = arena.settle_claim(who("editor"), stolen, "author", "The first commit is theirs.")
    assert (found.author, found.by) == ("author", "rival")
    assert [(c.author, c.by, c.reason) for c in found.claims] == [
        ("author", "editor", "The first commit is theirs.")
    ]
    assert refusal(lambda: arena.launch(who("rival"), stolen, "demo")) == "not_yours"
    assert refusal(lambda: arena.withdraw(who("rival"), stolen, "x")) == "not_yours"
    assert arena.launch(who("author"), stolen, "demo").by == "author"
    arena.review(who("editor"), run, "accepted", "Fine.")
    assert arena.read.leaderboard("demo")[0].author == "author"
    assert stolen in [s.id for s in arena.read.submission_views("author")]
    again = lambda: arena.settle_claim(who("editor"), stolen, "Author", "x")  # noqa: E731
    assert refusal(again) == "already_settled"


def test_entering_the_same_content_again_does_not_win_it_back(
    arena: Arena, who: Who, hub: RunningHub, stolen: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    arena.settle_claim(who("editor"), stolen, "author", "Theirs.")
    more = tmp_path_factory.mktemp("more")
    (more / "NOTES.md").write_text("another commit, the same packages\n")
    hub.api("rival").upload_file(
        path_or_fileobj=more / "NOTES.md",
        path_in_repo="NOTES.md",
        repo_id="rival/stolen",
        repo_type="dataset",
    )
    again = settled(arena, arena.submit(who("rival"), "hf:rival/stolen@main", "Again").id)
    assert again.collection == arena.read.submission_detail(stolen).collection
    assert again.author == "author"
    assert refusal(lambda: arena.launch(who("rival"), again.id, "demo")) == "not_yours"


def test_what_its_enterer_enters_next_does_not_displace_it(
    arena: Arena, who: Who, stolen: str, collection: Collection
) -> None:
    run = arena.launch(who("rival"), stolen, "demo").id
    scored(arena, run)
    arena.review(who("editor"), run, "accepted", "Fine.")
    arena.settle_claim(who("editor"), stolen, "author", "Theirs.")
    settled(arena, arena.submit(who("rival"), collection("rival", "rival/stolen"), "Next").id)
    rows = arena.read.leaderboard("demo")
    assert [(r.title, r.author, r.rank) for r in rows] == [("Stolen", "author", 1)]


def test_a_claim_may_be_settled_for_who_entered_it_and_settled_anew(
    arena: Arena, who: Who, stolen: str
) -> None:
    editor = who("editor")
    assert arena.settle_claim(editor, stolen, "rival", "It was first.").author == "rival"
    line = arena.ledger.state.submissions[stolen].line
    arena.settle_claim(editor, stolen, "author", "New evidence.")
    back = arena.settle_claim(editor, stolen, "rival", "The evidence was forged.")
    assert (back.author, len(back.claims)) == ("rival", 3)
    assert arena.ledger.state.submissions[stolen].line == line
