"""The same error in API and command line: one code, one message, one next step."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from unittest import mock

import httpx
import pytest

from arena.cli import main
from arena.identity import Identity
from arena.service import Arena
from arena.settings import Settings, SettingsError
from tests.hub import RunningHub
from tests.service.conftest import ROOT, settled
from tests.service.fronts import Fronts
from tests.service.scripted import scored

Who = Callable[[str], Identity]


CASES: list[tuple[str, int, str, str, str, dict[str, str], list[str]]] = [
    (
        "source_not_found", 404, "author", "POST", "/submissions",
        {"source": "hf:author/nothing@main", "title": "T"},
        ["submit", "hf:author/nothing@main", "--title", "T"],
    ),
    (
        "source_not_found", 404, "author", "POST", "/submissions",
        {"source": "hf:arena/demo-suite@v1", "title": "T"},
        ["submit", "hf:arena/demo-suite@v1", "--title", "T"],
    ),
    (
        "revision_not_found", 404, "author", "POST", "/submissions",
        {"source": "hf:author/example-collection@nope", "title": "T"},
        ["submit", "hf:author/example-collection@nope", "--title", "T"],
    ),
    (
        "bad_source", 400, "author", "POST", "/submissions",
        {"source": "over there", "title": "T"},
        ["submit", "over there", "--title", "T"],
    ),
    (
        "not_yours", 403, "rival", "POST", "/submissions",
        {"source": "hf:author/example-collection@main", "title": "T"},
        ["submit", "hf:author/example-collection@main", "--title", "T"],
    ),
    (
        "invalid_token", 401, "nobody", "POST", "/submissions",
        {"source": "hf:author/example-collection@main", "title": "T"},
        ["submit", "hf:author/example-collection@main", "--title", "T"],
    ),
    (
        "unknown_submission", 404, "author", "POST", "/runs:launch",
        {"submission": "sub_x", "challenge": "demo"},
        ["run", "launch", "sub_x", "--challenge", "demo"],
    ),
    (
        "not_yours", 403, "rival", "POST", "/runs:launch",
        {"submission": "VALID", "challenge": "demo"},
        ["run", "launch", "VALID", "--challenge", "demo"],
    ),
    (
        "not_editor", 403, "author", "POST", "/reviews",
        {"run": "SCORED", "verdict": "accepted", "reason": "x"},
        ["review", "accept", "SCORED", "--reason", "x"],
    ),
    (
        "weak_token", 403, "editor_read", "POST", "/reviews",
        {"run": "SCORED", "verdict": "accepted", "reason": "x"},
        ["review", "accept", "SCORED", "--reason", "x"],
    ),
    (
        "reason_required", 400, "editor", "POST", "/reviews",
        {"run": "SCORED", "verdict": "rejected", "reason": " "},
        ["review", "reject", "SCORED", "--reason", " "],
    ),
    (
        "unknown_run", 404, "editor", "POST", "/reviews",
        {"run": "run_x", "verdict": "accepted", "reason": "x"},
        ["review", "accept", "run_x", "--reason", "x"],
    ),
    (
        "not_yours", 403, "rival", "POST", "/submissions/VALID:withdraw",
        {"reason": "x"},
        ["withdraw", "VALID", "--reason", "x"],
    ),
    (
        "reason_required", 400, "author", "POST", "/submissions/VALID:withdraw",
        {"reason": " "},
        ["withdraw", "VALID", "--reason", " "],
    ),
    (
        "unknown_submission", 404, "author", "POST", "/submissions/sub_x:withdraw",
        {"reason": "x"},
        ["withdraw", "sub_x", "--reason", "x"],
    ),
    (
        "not_editor", 403, "rival", "POST", "/submissions/VALID:claim",
        {"author": "rival", "reason": "x"},
        ["claim", "settle", "VALID", "--author", "rival", "--reason", "x"],
    ),
    (
        "not_editor", 403, "author", "POST", "/challenges/demo/state",
        {"state": "paused", "reason": "x"},
        ["challenge", "pause", "demo", "--reason", "x"],
    ),
    (
        "unknown_challenge", 404, "editor", "POST", "/challenges/nope/state",
        {"state": "paused", "reason": "x"},
        ["challenge", "pause", "nope", "--reason", "x"],
    ),
]  # fmt: skip


def test_each_error_is_the_same_in_api_and_command_line(
    arena: Arena, fronts: Fronts, who: Who, valid: str
) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    scored(arena, run)
    seq = arena.ledger.state.seq
    names = {"VALID": valid, "SCORED": run}
    for code, status, account, method, path, body, arguments in CASES:
        filled = {k: names.get(v, v) for k, v in body.items()}
        answer = fronts.api(account, method, path.replace("VALID", valid), filled)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (status, code), arguments
        assert set(error) == {"code", "message", "next"}
        assert all(error.values())
        exit_code, printed, noise = fronts.cli(account, *(names.get(a, a) for a in arguments))
        assert (exit_code, printed) == (1, {"ok": False, "error": error}), arguments
        assert noise == ""
    assert arena.ledger.state.seq == seq, "nothing that failed was recorded"


def test_launch_while_paused_and_accept_twice(
    arena: Arena, fronts: Fronts, who: Who, valid: str
) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    scored(arena, run)
    first = fronts.cli("editor", "review", "accept", run, "--reason", "Fine.")
    assert (first[0], first[1]["ok"], first[1]["run"]["state"]) == (0, True, "accepted")
    again = fronts.cli("editor", "review", "accept", run, "--reason", "Fine.")
    assert (again[0], again[1]["error"]["code"]) == (1, "already_reviewed")
    assert fronts.cli("editor", "challenge", "pause", "demo", "--reason", "Model.")[0] == 0
    launched = fronts.cli("author", "run", "launch", valid, "--challenge", "demo")
    assert (launched[0], launched[1]["error"]["code"]) == (1, "challenge_not_open")
    assert "Model." in launched[1]["error"]["message"]


def test_withdrawing_and_settling_by_command_line(fronts: Fronts, valid: str) -> None:
    why = ["--author", "rival", "--reason", "Theirs."]
    code, answer, _ = fronts.cli("editor", "claim", "settle", valid, *why)
    assert (code, answer["submission"]["author"]) == (0, "rival")
    code, answer, _ = fronts.cli("rival", "withdraw", valid, "--reason", "Wrong.")
    assert (code, answer["submission"]["state"]) == (0, "withdrawn")
    code, answer, _ = fronts.cli("rival", "status")
    assert [s["id"] for s in answer["submissions"]] == [valid]
    again = fronts.cli("rival", "withdraw", valid, "--reason", "Wrong.")
    assert (again[0], again[1]["error"]["code"]) == (1, "withdrawn")


def test_the_six_steps_by_command_line_with_a_scripted_worker(
    arena: Arena, fronts: Fronts, collection: Callable[..., str]
) -> None:
    code, answer, _ = fronts.cli("author", "submit", collection(), "--title", "T", "--wait")
    submission = answer["submission"]
    assert (code, submission["state"], submission["packages"]) == (0, "valid", 4)
    code, answer, _ = fronts.cli("author", "run", "launch", submission["id"], "--challenge", "demo")
    run = answer["run"]["id"]
    scored(arena, run)
    code, answer, _ = fronts.cli("author", "run", "show", run, "--wait")
    assert (code, answer["run"]["state"], answer["run"]["change_pp"]) == (0, "scored", 50)
    assert fronts.cli("editor", "review", "list")[1]["runs"][0]["id"] == run
    assert fronts.cli("editor", "review", "accept", run, "--reason", "Fine.")[0] == 0
    rows = fronts.cli(None, "leaderboard", "--challenge", "demo")[1]["rows"]
    assert [(r["rank"], r["mean_change_pp"], r["author"]) for r in rows] == [(1, 50, "author")]


def test_an_invalid_collection_ends_the_command_with_its_findings(
    arena: Arena, fronts: Fronts, collection: Callable[..., str], who: Who
) -> None:
    source = collection(files={"README.md": "no card\n", "submission.yaml": "license: MIT\n"})
    arena.submit(who("author"), source, "T")
    code, answer, _ = fronts.cli("author", "status")
    assert (code, answer["total"]) == (0, 1)
    settled(arena, answer["submissions"][0]["id"])


def test_what_is_no_request_gets_the_same_shape(fronts: Fronts) -> None:
    for answer, status, code in (
        (fronts.api("author", "POST", "/submissions", {"source": "x"}), 400, "bad_request"),
        (
            fronts.api("author", "POST", "/submissions", {"source": "x", "title": "t", "by": "me"}),
            400,
            "bad_request",
        ),
        (
            fronts.api(None, "POST", "/submissions", {"source": "x", "title": "t"}),
            401,
            "sign_in_required",
        ),
        (fronts.api(None, "GET", "/nothing"), 404, "not_found"),
        (fronts.api(None, "GET", "/runs/run_x"), 404, "unknown_run"),
        (fronts.api(None, "GET", "/runs?limit=100000"), 400, "bad_request"),
        (fronts.api("author", "POST", "/worker/lease", {}), 403, "not_worker"),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    raw = httpx.post(
        f"{fronts.url}/api/v1/submissions",
        content=b"\xff{",
        headers={"Authorization": "Bearer hf_author"},
    )
    assert (raw.status_code, raw.json()["error"]["code"]) == (400, "bad_request")


def test_the_command_is_a_process_that_says_what_is_wrong() -> None:
    arguments = [sys.executable, "-m", "arena", "nonsense", "--json"]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (2, "")
    assert json.loads(done.stdout)["error"]["code"] == "usage"


def test_wrong_usage_exits_with_2(fronts: Fronts) -> None:
    code, answer, _ = fronts.cli("author", "submit")
    assert (code, answer["error"]["code"]) == (2, "usage")
    code, answer, _ = fronts.cli("author", "nonsense")
    assert (code, answer["error"]["code"]) == (2, "usage")


def test_an_arena_that_is_not_there_is_said_so() -> None:
    code, answer, _ = Fronts("http://127.0.0.1:9").cli("author", "whoami")
    assert (code, answer["error"]["code"]) == (1, "arena_unreachable")


def test_lists_are_paged(
    arena: Arena, fronts: Fronts, who: Who, collection: Callable[..., str]
) -> None:
    for _ in range(3):
        arena.submit(who("author"), collection(), "T")
    first = fronts.api(None, "GET", "/submissions?limit=2").json()
    assert (len(first["submissions"]), first["total"], first["next_offset"]) == (2, 3, 2)
    rest = fronts.api(None, "GET", "/submissions?limit=2&offset=2").json()
    assert (len(rest["submissions"]), rest["next_offset"]) == (1, None)


def test_a_report_is_open_to_everybody(arena: Arena, fronts: Fronts, who: Who, valid: str) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    assert fronts.api(None, "GET", f"/runs/{run}/report").json() == {"ok": True, "report": None}
    scored(arena, run)
    report = fronts.api(None, "GET", f"/runs/{run}/report").json()["report"]
    assert (report["run"], len(report["trials"])) == (run, 2 * 4 * 16)


def test_the_openapi_document_is_served(api: str) -> None:
    paths = httpx.get(f"{api}/openapi.json").json()["paths"]
    assert "/api/v1/submissions" in paths


COMPLETE = {
    "SYSTEM": "spaces",
    "SPACE_ID": "a/b",
    "OAUTH_CLIENT_ID": "x",
    "OAUTH_CLIENT_SECRET": "y",
    "OAUTH_SCOPES": "openid profile",
    "OPENID_PROVIDER_URL": "http://127.0.0.1:1",
    "HF_TOKEN": "hf_arena",
    "ARENA_SUITE_KEY": "k" * 32,
}


@pytest.mark.parametrize("name", sorted(COMPLETE))
def test_the_start_fails_where_sign_in_would_be_mocked(name: str) -> None:
    assert Settings.from_env(COMPLETE).hub_token == "hf_arena"
    with pytest.raises(SettingsError, match=name):
        Settings.from_env({k: v for k, v in COMPLETE.items() if k != name})


def test_settings_never_show_their_secrets() -> None:
    shown = repr(Settings.from_env(COMPLETE))
    assert "hf_arena" not in shown
    assert "kkkk" not in shown


def test_a_write_that_waits_for_its_commit_says_so(
    hub: RunningHub, fronts: Fronts, capsys: pytest.CaptureFixture[str]
) -> None:
    env = {"ARENA_URL": fronts.url, "HF_TOKEN": "hf_editor"}
    pause = ["challenge", "pause", "demo", "--reason", "To see it wait"]
    slow = {"kind": "hang", "match": "POST .*/commit/", "seconds": 4}
    hub.make_faults(slow)
    with mock.patch.dict(os.environ, env):
        assert main(pause) == 0
    said = capsys.readouterr()
    assert "1 write waits to be recorded; the next commit is under way" in said.err
    hub.make_faults(slow)
    code, _, err = fronts.cli("editor", "challenge", "resume", "demo", "--reason", "Seen")
    assert (code, err) == (0, ""), "with --json there is the object and nothing else"
    writes = fronts.api(None, "GET", "/writes").json()["writes"]
    assert (writes["waiting"], writes["seconds"]) == (0, 0)
