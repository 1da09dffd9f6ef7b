"""Near copies in the arena: what the author is told, what editors alone see, what stops runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import httpx

from arena.editorsnote import NOTE_BYTES, EditorsNote, EditorsNotes, Suspect, note_of
from arena.identity import Identity
from arena.nearcopies import METHOD, Comparison, seal
from arena.service import Arena
from local.demo.tasks import suite_specs, write_suite
from tests.collections import upload, write_collection
from tests.hub import RunningHub
from tests.nearcopies.published import publish_like_the_suite, reworded, with_other_names
from tests.service.conftest import KEY, ROOT, refusal, settled, wait_for
from tests.service.scripted import scored

Who = Callable[[str], Identity]
Collection = Callable[..., str]


def test_a_renamed_copy_is_refused_with_the_authors_own_text(
    arena: Arena, who: Who, hub: RunningHub, tmp_path: Path
) -> None:
    source = publish_like_the_suite(hub, tmp_path, with_other_names)
    view = settled(arena, arena.submit(who("author"), source, "T").id)
    assert (view.state, view.code, view.near_copies) == ("invalid", "near_copy", METHOD)
    assert view.reason
    assert "my-own-0" in view.reason
    assert [copy.package for copy in view.copies] == ["my-own-0", "my-own-1"]
    first = view.copies[0]
    assert first.similarity == round(first.similarity, 1)
    assert first.similarity >= first.threshold - 0.05
    assert "lantern" in first.passages[0].text
    told = view.model_dump_json()
    for spec in suite_specs(2):
        assert spec.name not in told
        assert spec.a not in told


def test_a_validation_that_enters_nothing_says_the_same(
    arena: Arena, who: Who, hub: RunningHub, tmp_path: Path
) -> None:
    source = publish_like_the_suite(hub, tmp_path, with_other_names)
    tried = arena.validate(who("rival"), source)
    wait_for(lambda: arena.validation(who("rival"), tried.id).state == "invalid")
    found = arena.validation(who("rival"), tried.id)
    assert (found.code, len(found.copies)) == ("near_copy", 2)


def test_suspects_are_for_editors_alone(
    arena: Arena, who: Who, hub: RunningHub, tmp_path: Path, api: str
) -> None:
    source = publish_like_the_suite(hub, tmp_path, reworded)
    own = arena.submit(who("author"), source, "T").id
    view = settled(arena, own)
    assert (view.state, view.copies) == ("valid", [])
    found = arena.suspects(who("editor"), own)
    assert {s.package for s in found.suspects} == {"my-own-0", "my-own-1"}
    assert {s.challenge for s in found.suspects} == {"demo"}
    assert refusal(lambda: arena.suspects(who("author"), own)) == "not_editor"
    assert refusal(lambda: arena.suspects(who("editor"), "sub_x")) == "unknown_submission"
    for account, status in (("author", 403), ("editor", 200)):
        headers = {"Authorization": f"Bearer hf_{account}"}
        answer = httpx.get(f"{api}/api/v1/submissions/{own}/suspects", headers=headers)
        assert answer.status_code == status
    assert httpx.get(f"{api}/api/v1/submissions/{own}/suspects").status_code == 401
    record = arena.ledger.state.submissions[own].validation
    assert record is not None
    assert "suspect" not in view.model_dump_json()
    assert "my-own-0" not in record.for_editors


def test_a_note_with_suspects_is_as_long_as_one_without(
    arena: Arena, who: Who, hub: RunningHub, tmp_path: Path, valid: str
) -> None:
    own = arena.submit(who("author"), publish_like_the_suite(hub, tmp_path, reworded), "T").id
    settled(arena, own)
    records = [arena.ledger.state.submissions[name].validation for name in (own, valid)]
    lengths = {len(record.for_editors) for record in records if record}
    assert len(lengths) == 1


def test_a_note_holds_what_fits_and_counts_the_rest() -> None:
    notes = EditorsNotes(KEY)
    row = Suspect(package="p", challenge="c", task=1, part="oracle", similarity=0.5, threshold=0.4)
    rows = [row.model_copy(update={"package": uuid4().hex, "task": i}) for i in range(500)]
    sealed = notes.seal(EditorsNote(suspects=rows))
    assert len(sealed) == len(notes.seal(EditorsNote())) > NOTE_BYTES
    found = notes.open(sealed)
    assert found is not None
    assert found.suspects == rows[: len(found.suspects)]
    assert 0 < len(found.suspects) == 500 - found.left_out
    assert EditorsNotes(b"x" * 32).open(sealed) is None
    assert notes.open("") is None


def test_packages_that_were_not_compared_whole_are_named_and_counted() -> None:
    names = [f"package-{number}" for number in range(7)]
    note = note_of(Comparison(cut=names), [], [], "hf:author/own", 9)
    assert (note.cut, note.cut_in_all) == (names[:5], 7)
    assert EditorsNotes(KEY).open(EditorsNotes(KEY).seal(note)) == note


def test_twins_in_a_collection_are_told_and_not_refused(
    arena: Arena, who: Who, hub: RunningHub, tmp_path: Path
) -> None:
    folder = write_collection(tmp_path / "c", 3, f"w{uuid4().hex[:8]}")
    shutil.copytree(folder / sorted(p.name for p in folder.iterdir())[0], folder / "twin")
    (folder / "twin" / "verifier" / "verifier.md").open("a").write("\nOnce more.\n")
    upload(hub.api("author"), "author/twins", folder)
    view = settled(arena, arena.submit(who("author"), "hf:author/twins@main", "T").id)
    assert view.state == "valid"
    assert "twin" in {name for twins in view.twins for name in (twins.package, twins.other)}


def test_near_copies_of_accepted_packages_are_shown_to_editors_with_the_original(
    arena: Arena, who: Who, hub: RunningHub, tmp_path: Path
) -> None:
    folder = write_collection(tmp_path / "c", 4, f"w{uuid4().hex[:8]}")
    upload(hub.api("author"), "author/first", folder)
    first = arena.submit(who("author"), "hf:author/first@main", "First").id
    settled(arena, first)
    run = arena.launch(who("author"), first, "demo").id
    scored(arena, run)
    arena.review(who("editor"), run, "accepted", "Sound.")
    wait_for(lambda: arena.read.run_detail(run).release)
    for account, expected in (("rival", True), ("author", False)):
        note = min(path for path in folder.iterdir()) / "verifier" / "verifier.md"
        note.write_text(f"{note.read_text()}\n{account}'s own words.\n")
        repo = f"{account}/{'second' if account == 'rival' else 'first'}"
        commit = upload(hub.api(account), repo, folder)
        own = arena.submit(who(account), f"hf:{repo}@{commit}", "Second").id
        view = settled(arena, own)
        assert view.state == "valid", view.reason
        found = arena.suspects(who("editor"), own).borrowed
        assert bool(found) is expected, "a line's own earlier version is no news"
        assert {b.submission for b in found} <= {first}


def test_an_index_under_another_key_stops_runs_and_checks_wait(
    start_arena: Callable[..., Arena], collection: Collection
) -> None:
    arena = start_arena(suite_key=b"another key of 32 characters, oh")
    author = arena.identities.of("hf_author", "token")
    own = arena.submit(author, collection(), "T").id
    wait_for(lambda: arena.read.submission_detail(own).state == "waiting")
    assert "another key" in (arena.read.submission_detail(own).waits_for or "")
    found = arena.read.challenge_view("demo")
    assert not found.takes_runs
    assert "another key" in (found.why_not or "")


def test_an_index_of_another_revision_is_stale(
    start_arena: Callable[..., Arena], hub: RunningHub, tmp_path: Path
) -> None:
    suite = f"editor/suite-{uuid4().hex[:8]}"
    challenges = shutil.copytree(ROOT / "challenges", tmp_path / "challenges")
    file = challenges / "demo" / "challenge.yaml"
    pinned = f"repo: {suite}, revision: main"
    file.write_text(file.read_text().replace("repo: arena/demo-suite, revision: v1", pinned))
    index = tmp_path / "index"
    index.mkdir()

    def publish(revision: str) -> None:
        content = seal(write_suite(tmp_path / revision, 2), KEY, revision).to_bytes()
        (index / "index.npz").write_bytes(content)
        upload(hub.api("editor"), f"{suite}-index", index)

    publish("v0")
    arena = start_arena(challenges=challenges)
    wait_for(
        lambda: "revision v0, not of main" in (arena.read.challenge_view("demo").why_not or "")
    )
    publish("main")
    arena.suites.look(arena.challenges.challenges["demo"])
    assert arena.read.challenge_view("demo").takes_runs, "sealed again"
