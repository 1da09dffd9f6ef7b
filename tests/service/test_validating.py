"""Validating without entering: the same check, for any public source, within the same limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest

from arena.identity import Identity
from arena.service import Arena
from arena.views import ValidationView
from tests.collections import upload, write_package
from tests.hub import RunningHub
from tests.service.conftest import refusal, settled
from tests.service.test_fronts import Fronts

Who = Callable[[str], Identity]
Collection = Callable[..., str]


@pytest.fixture
def fronts(api: str) -> Fronts:
    return Fronts(api)


def ended(arena: Arena, who: Identity, validation: str) -> ValidationView:
    deadline = monotonic() + 20
    while monotonic() < deadline:
        view = arena.validation(who, validation)
        if view.state in {"valid", "invalid", "failed"}:
            return view
        sleep(0.02)
    raise AssertionError("it does not end")


def test_anybody_validates_and_nothing_is_entered(
    arena: Arena, who: Who, collection: Collection
) -> None:
    seq = arena.ledger.state.seq
    asked = arena.validate(who("rival"), collection("author"))
    view = ended(arena, who("rival"), asked.id)
    assert (view.state, view.packages, view.by) == ("valid", 4, "rival")
    assert [stage.stage for stage in view.stages] == ["fetching", "checking", "comparing"]
    assert arena.ledger.state.seq == seq
    assert len(arena.read.submission_views()) == 0
    assert refusal(lambda: arena.validation(who("author"), asked.id)) == "unknown_validation"


def test_it_finds_what_a_submission_would(
    arena: Arena, who: Who, hub: RunningHub, tmp_path: Path, collection: Collection
) -> None:
    write_package(tmp_path / "c/broken-task", {"task.md": "---\na: [\n---\n"})
    upload(hub.api("author"), "author/broken-too", tmp_path / "c")
    asked = arena.validate(who("author"), "hf:author/broken-too@main")
    view = ended(arena, who("author"), asked.id)
    assert (view.state, view.code, view.findings[0].code) == ("invalid", "findings", "TP002")
    entered = collection("author")
    settled(arena, arena.submit(who("author"), entered, "T").id)
    again = arena.validate(who("author"), entered)
    assert ended(arena, who("author"), again.id).state == "valid", "one's own line is no duplicate"


def test_a_challenge_adds_its_gate(arena: Arena, who: Who, collection: Collection) -> None:
    needed = arena.challenges.challenges["demo"].gates.min_tasks
    small = arena.validate(who("author"), collection(count=needed - 1), "demo")
    view = ended(arena, who("author"), small.id)
    assert (view.state, view.code, view.challenge) == ("invalid", "too_few_tasks", "demo")
    large = arena.validate(who("author"), collection(count=needed), "demo")
    assert ended(arena, who("author"), large.id).state == "valid"
    assert refusal(lambda: arena.validate(who("author"), collection(), "no")) == "unknown_challenge"


def test_attempts_are_limited_together_with_submissions(
    arena: Arena, who: Who, collection: Collection
) -> None:
    limits = arena.challenges.arena.limits.model_copy(
        update={"validations_per_author_per_hour": 3, "validations_per_hour": 4}
    )
    arena.challenges = arena.challenges.model_copy(
        update={"arena": arena.challenges.arena.model_copy(update={"limits": limits})}
    )
    author, rival, source = who("author"), who("rival"), collection()
    arena.validate(author, source)
    assert refusal(lambda: arena.validate(author, "hf:author/nothing@main")) == "source_not_found"
    arena.submit(author, source, "T")
    assert refusal(lambda: arena.validate(author, source)) == "limit_reached"
    assert refusal(lambda: arena.submit(author, collection(), "T")) == "limit_reached"
    arena.validate(rival, source)
    assert refusal(lambda: arena.validate(rival, source)) == "limit_reached", "over all authors"


def test_the_command_line_follows_to_the_end(
    arena: Arena, fronts: Fronts, collection: Collection
) -> None:
    source = collection()
    code, answer, noise = fronts.cli("rival", "validate", source)
    assert (code, answer["ok"], answer["validation"]["state"], noise) == (0, True, "valid", "")
    code, answer, _ = fronts.cli("rival", "validate", source, "--challenge", "nope")
    assert (code, answer["error"]["code"]) == (1, "unknown_challenge")
    code, answer, _ = fronts.cli(None, "validate", source)
    assert (code, answer["error"]["code"]) == (1, "sign_in_required")
    for path in ("/validations/val_nothing", f"/validations/{'x' * 500}"):
        error = fronts.api("author", "GET", path)
        assert (error.status_code, error.json()["error"]["code"]) == (404, "unknown_validation")


def test_a_restart_in_between_is_asked_again(
    arena: Arena, fronts: Fronts, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten: list[str] = []
    tried_out = arena._validator.tried_out

    def forgetful(validation: str) -> object:
        found = tried_out(validation)
        if found and found.record and not forgotten:
            forgotten.append(validation)
        return None if validation in forgotten else found

    monkeypatch.setattr(arena._validator, "tried_out", forgetful)
    code, answer, _ = fronts.cli("rival", "validate", collection())
    assert (code, answer["validation"]["state"]) == (0, "valid")
    assert forgotten
    assert answer["validation"]["id"] not in forgotten
