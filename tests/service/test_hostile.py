"""What a stranger, or a worker gone wrong, sends: refused in the one shape, and nothing else hurt."""

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from time import sleep

import httpx
import pytest
import uvicorn
from pydantic import ValidationError

from arena.api import create_api
from arena.api.body import MAX_BODY_BYTES
from arena.cli.output import plain
from arena.client import ArenaClient
from arena.errors import BadReport, LeaseLost
from arena.identity import Identity
from arena.posttrain.faults import PlatformFault
from arena.report import Report
from arena.runs.heartbeat import Heartbeat
from arena.runs.messages import Beat, StageEnd
from arena.service import Arena
from arena.settings import Settings
from tests.hub import RunningHub
from tests.service.conftest import free_port, refusal, settled, wait_for
from tests.service.scripted import arms, leased, report, scored, worker_of
from tests.service.test_fronts import Fronts

Who = Callable[[str], Identity]
Collection = Callable[..., str]


@pytest.fixture
def fronts(api: str) -> Fronts:
    return Fronts(api)


@pytest.mark.parametrize(
    "source",
    [
        "hf:author/example-collection@main:\ud800",
        "hf:author/example-collection@main:\u202ex",
        "hf:author/example-collection@main:a\x7fb",
        "hf:author/example-collection@refs/pr/1",
        "github:author/example@refs/pull/1/head",
        "github:author/example@pull/1/head",
    ],
)
def test_a_source_that_nobody_can_read_or_own_is_refused(
    arena: Arena, who: Who, published: str, source: str
) -> None:
    assert refusal(lambda: arena.submit(who("author"), source, "T")) == "bad_source"


@pytest.mark.parametrize(
    "text",
    ["members: !!timestamp x\n", 'members: ["\\ud800"]\n', 'members: ["a b", "\\e[1m"]\n'],
)
def test_settings_that_break_the_parser_name_no_author(
    arena: Arena, who: Who, collection: Collection, text: str
) -> None:
    source = collection(files={"submission.yaml": text})
    submission = arena.submit(who("author"), source, "T").id
    assert arena.ledger.state.submissions[submission].record.authors == []


@pytest.mark.parametrize("path", ["x" * 250 + "/a", "/".join("a" * 100), "a\u202eb"])
def test_a_path_that_no_folder_takes_is_a_finding(
    arena: Arena, who: Who, collection: Collection, hub: RunningHub, path: str
) -> None:
    repo = collection().partition("@")[0]
    hub.api("author").upload_file(
        path_or_fileobj=b"x", path_in_repo=path, repo_id=repo[3:], repo_type="dataset"
    )
    view = settled(arena, arena.submit(who("author"), f"{repo}@main", "T").id)
    assert (view.state, [f.code for f in view.findings]) == ("invalid", ["TP007"])


def test_a_key_is_of_one_source_and_outlives_it(
    arena: Arena, who: Who, collection: Collection, hub: RunningHub
) -> None:
    first, second = collection(), collection()
    entered = arena.submit(who("author"), first, "T", "key").id
    other = lambda: arena.submit(who("author"), second, "T", "key")  # noqa: E731
    assert refusal(other) == "idempotency_mismatch"
    hub.api("author").delete_repo(first[3:].partition("@")[0], repo_type="dataset")
    assert arena.submit(who("author"), first, "T", "key").id == entered


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/runs", "/nothing", "/worker/lease"])
def test_no_method_leaves_the_api(fronts: Fronts, method: str, path: str) -> None:
    answer = fronts.api("author", method, path)
    assert (answer.status_code, answer.json()["ok"]) in {(404, False), (405, False)}


def test_a_body_is_read_up_to_a_limit(fronts: Fronts) -> None:
    body = {"source": "x" * MAX_BODY_BYTES, "title": "T"}
    answer = fronts.api(None, "POST", "/submissions", body)
    assert answer.status_code == 413
    assert set(answer.json()["error"]) == {"code", "message", "next"}


@pytest.mark.parametrize("reason", ["a\x1b[31mb", "a\x00b", "a\x9bb"])
def test_a_reason_can_be_shown(arena: Arena, who: Who, reason: str) -> None:
    pause = lambda: arena.set_challenge_state(who("editor"), "demo", "paused", reason)  # noqa: E731
    assert refusal(pause) == "bad_request"


def test_a_reason_may_have_lines_and_any_script(arena: Arena, who: Who) -> None:
    reason = "First.\nZweitens: 👩‍🔬, שלום."
    arena.set_challenge_state(who("editor"), "demo", "paused", reason)
    assert arena.read.challenge_view("demo").reason == reason


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_json_cannot_carry_is_refused(
    arena: Arena, who: Who, valid: str, api: str, number: str
) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    lease = leased(arena)
    record = arena.ledger.state.runs[run].record
    sent = json.dumps(report(record, *arms(0.25, 0.75)))
    for old in ('"reward": 0.5', '"oracle": 1.0', '"seconds": 1.0'):
        assert old in sent
        content = sent.replace(old, f"{old.partition(' ')[0]} {number}").encode()
        with pytest.raises(BadReport):
            arena.queue.report("arena-worker", run, lease.lease, content)
    for field in ({"stage": "sft", "reward": float(number)},):
        with pytest.raises(ValidationError):
            Beat.model_validate({"lease": lease.lease, **field})
    with pytest.raises(ValidationError):
        StageEnd.model_validate({"lease": lease.lease, "stage": "sft", "seconds": float(number)})
    assert httpx.get(f"{api}/api/v1/runs/{run}").json()["run"]["state"] == "running"


def test_a_lease_is_of_the_worker_that_took_it(arena: Arena, who: Who, valid: str) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    lease = leased(arena).lease
    for act in (
        lambda: arena.queue.beat("other", run, Beat(lease=lease, stage="sft")),
        lambda: arena.queue.end_stage("other", run, StageEnd(lease=lease, stage="sft", seconds=1)),
        lambda: arena.queue.report("other", run, lease, b"{}"),
    ):
        with pytest.raises(LeaseLost):
            act()


def test_a_source_that_is_gone_holds_up_no_other_release(
    arena: Arena, who: Who, collection: Collection, hub: RunningHub
) -> None:
    runs = []
    for _ in range(2):
        source = collection()
        submission = arena.submit(who("author"), source, "T").id
        assert settled(arena, submission).state == "valid"
        runs.append(arena.launch(who("author"), submission, "demo").id)
        scored(arena, runs[-1])
        if len(runs) == 1:
            hub.api("author").delete_repo(source[3:].partition("@")[0], repo_type="dataset")
            shutil.rmtree(arena.settings.data / "files")  # nor is it in the cache
            (arena.settings.data / "files").mkdir()
    for run in runs:
        arena.review(who("editor"), run, "accepted", "Fine.")
    wait_for(lambda: arena.read.run_detail(runs[1]).release)
    assert arena.read.run_detail(runs[0]).release is None


def test_what_was_validated_is_released_though_its_source_is_gone(
    arena: Arena, who: Who, collection: Collection, hub: RunningHub
) -> None:
    source = collection()
    submission = arena.submit(who("author"), source, "T").id
    assert settled(arena, submission).state == "valid"
    run = arena.launch(who("author"), submission, "demo").id
    scored(arena, run)
    hub.api("author").delete_repo(source[3:].partition("@")[0], repo_type="dataset")
    arena.review(who("editor"), run, "accepted", "Fine.")
    wait_for(lambda: arena.read.run_detail(run).release)


@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (("run", "show", "../challenges/demo"), "not_found", 1),
        (("run", "show", ".."), "unknown_run", 1),
        (("run", "show", "a\nb"), "unknown_run", 1),
        (("run", "show", "a?b#c"), "unknown_run", 1),
        (("challenges", "../runs"), "not_found", 1),
        (("run", "show", "\udcff"), "usage", 2),
        (("submit", "hf:author/x@main", "--title", "\udcff"), "usage", 2),
        (("check", "/nowhere"), "usage", 2),
    ],
)
def test_what_is_typed_stays_one_argument(
    fronts: Fronts, arguments: tuple[str, ...], code: str, status: int
) -> None:
    found = fronts.cli("author", *arguments)
    assert (found[0], found[1]["error"]["code"], found[2]) == (status, code, "")


def test_a_token_or_an_address_that_cannot_be_sent_is_an_error(fronts: Fronts) -> None:
    assert fronts.cli("é", "whoami")[1]["error"]["code"] == "invalid_token"
    assert Fronts("http://a\nb").cli(None, "challenges")[1]["error"]["code"] == "arena_unreachable"


def test_a_terminal_obeys_nothing_that_users_wrote() -> None:
    wrote = "a\x1b[2Jb\u202ec\x9bd\n\té👩‍🔬"
    assert plain(wrote) == "a\\x1b[2Jb\\u202ec\\x9bd\n\té👩‍🔬"


@pytest.mark.parametrize("end", ["scored", "failed"])
def test_how_a_run_ended_waits_for_an_arena_that_is_away(
    arena: Arena, who: Who, valid: str, settings: Settings, tmp_path: Path, end: str
) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    lease = leased(arena)
    content = report(arena.ledger.state.runs[run].record, *arms(0.25, 0.75))
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    worker = worker_of(url, settings, tmp_path)
    life = Heartbeat(ArenaClient(url, "hf_worker"), lease, threading.Event())

    def tell() -> None:
        if end == "scored":
            worker._send(lease, Report.model_validate(content), life)
        else:
            worker._fail(lease, PlatformFault("no_engine", "The engine is gone."), life)

    sending = threading.Thread(target=tell)
    sending.start()
    sleep(5)  # longer than the client tries a single call
    config = uvicorn.Config(create_api(arena), host="127.0.0.1", port=port, log_level="error")
    server = uvicorn.Server(config)
    serving = threading.Thread(target=server.run)
    serving.start()
    try:
        wait_for(lambda: arena.read.run_detail(run).state == end)
    finally:
        sending.join(timeout=20)
        server.should_exit = True
        serving.join()
