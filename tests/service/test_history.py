"""What happened to something: every record, who, when, what, why; nothing that is for few."""

from collections.abc import Callable
from datetime import UTC, datetime

from arena.identity import Identity
from arena.service import Arena
from tests.service.conftest import refusal, wait_for
from tests.service.fronts import Fronts
from tests.service.scripted import scored

Who = Callable[[str], Identity]


def test_every_record_is_found_from_each_object_that_it_touched(
    arena: Arena, who: Who, valid: str
) -> None:
    began = datetime.now(UTC)
    editor = who("editor")
    run = arena.launch(who("author"), valid, "demo").id
    scored(arena, run)
    arena.review(editor, run, "accepted", "Sound.")
    wait_for(lambda: arena.read.run_detail(run).release)
    arena.review(editor, run, "rejected", "A leak was found.")
    arena.set_challenge_state(editor, "demo", "paused", "The disk is full.")
    arena.set_challenge_state(editor, "demo", "open", "It is not.")
    arena.settle_claim(editor, valid, "rival", "Theirs.")
    arena.withdraw(who("rival"), valid, "Not as I want it.")
    past = arena.read.history
    of_run = [
        ("run", "author", None),
        ("run_event", "arena-worker", None),
        ("report", "arena-worker", None),
        ("review", "editor", "Sound."),
        ("release", "arena", None),
        ("review", "editor", "A leak was found."),
        ("withdrawal", "rival", "Not as I want it."),
    ]
    assert [(r.kind, r.by, r.reason) for r in past(run)] == of_run
    assert all(r.at > began and r.at.tzinfo for r in past(run))
    kinds = [r.kind for r in past(valid)]
    assert kinds == [
        "submission",
        "validation",
        *[k for k, _, _ in of_run[:-1]],
        "claim",
        "withdrawal",
    ]
    collection = arena.read.submission_detail(valid).collection
    assert collection is not None
    assert past(collection) == past(valid)
    assert [(r.what, r.reason) for r in past("demo")] == [
        ("demo paused", "The disk is full."),
        ("demo open", "It is not."),
    ]
    every = {r.seq for name in (valid, "demo") for r in past(name)}
    assert every == set(range(1, arena.ledger.state.seq + 1)), "no record is left out"
    assert refusal(lambda: past("nothing")) == "unknown_id"


def test_leases_and_reports_stay_out_of_it(arena: Arena, who: Who, valid: str) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    scored(arena, run)
    lease = arena.ledger.state.runs[run].lease
    shown = "".join(row.model_dump_json() for row in arena.read.history(valid))
    assert lease is not None
    assert lease not in shown
    assert "trials" not in shown


def test_history_is_paged_and_the_same_on_the_command_line(
    arena: Arena, fronts: Fronts, valid: str
) -> None:
    first = fronts.api(None, "GET", f"/history/{valid}?limit=1").json()
    assert (len(first["history"]), first["total"], first["next_offset"]) == (1, 2, 1)
    code, answer, _ = fronts.cli(None, "history", valid)
    assert code == 0
    assert answer["history"][0] == first["history"][0]
    assert fronts.api(None, "GET", "/history/demo").json()["total"] == 0
    missing = fronts.api(None, "GET", "/history/sub_x")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "unknown_id")
    assert fronts.cli(None, "history", "sub_x")[1]["error"] == missing.json()["error"]
