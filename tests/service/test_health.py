"""How the arena is, its counters and its logs: the trouble named, no secret, no label of a user's."""

import io
import json
import logging
from collections.abc import Callable

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from arena.identity import Identity
from arena.logs import JsonLines
from arena.service import Arena
from tests.hub import RunningHub
from tests.service.conftest import refusal, wait_for
from tests.service.scripted import leased, ready

Who = Callable[[str], Identity]


def figures(api: str) -> dict[tuple[str, ...], float]:
    """Every sample, by its name and its labels' values."""
    answer = httpx.get(f"{api}/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_health_names_store_queue_and_workers(arena: Arena, api: str, who: Who, valid: str) -> None:
    arena.queue.lease("arena-worker", ready())
    head = arena._api.dataset_info(arena.settings.results_repo or "", timeout=20).sha
    found = httpx.get(f"{api}/healthz").json()
    assert (found["ok"], found["status"], found["trouble"]) == (True, "ok", [])
    assert (found["store"]["reachable"], found["store"]["writable"]) == (True, True)
    assert found["store"]["commit"] == head
    assert found["store"]["at"]
    assert found["queues"] == {"runs": 0, "running": 0, "replays": 1, "validations": 0}
    assert found["workers"] == {"ready": 1, "lacking": 0}
    arena.launch(who("author"), valid, "demo")
    leased(arena)
    assert httpx.get(f"{api}/healthz").json()["queues"]["running"] == 1


def test_a_run_that_waits_for_nobody_is_trouble(
    arena: Arena, api: str, who: Who, valid: str
) -> None:
    arena.launch(who("author"), valid, "demo")
    found = httpx.get(f"{api}/healthz")
    assert (found.status_code, found.json()["status"]) == (200, "degraded")
    assert "no worker is ready" in found.json()["trouble"][0]


def test_a_hub_out_of_reach_is_named_and_reading_goes_on(
    arena: Arena, api: str, valid: str, hub: RunningHub
) -> None:
    silent = {"kind": "refuse", "match": f"/datasets/{arena.settings.results_repo}", "status": 503}
    hub.make_faults({**silent, "times": 1000})
    try:
        wait_for(lambda: arena.ledger.trouble)
        found = httpx.get(f"{api}/healthz")
        body = found.json()
        assert (found.status_code, body["status"], body["hub_reachable"]) == (
            200,
            "degraded",
            False,
        )
        assert (body["store"]["reachable"], body["store"]["writable"]) == (False, False)
        assert "cannot be reached: status 503" in body["trouble"][0]
        shown = httpx.get(f"{api}/api/v1/submissions/{valid}").json()["submission"]
        assert shown["state"] == "valid"
    finally:
        hub.make_faults()
    wait_for(lambda: httpx.get(f"{api}/healthz").json()["status"] == "ok")


def test_a_store_that_takes_nothing_is_named_until_it_does(
    arena: Arena, api: str, who: Who, valid: str, hub: RunningHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ledger.ATTEMPTS", 2)
    hub.make_faults({"kind": "refuse", "match": "POST .*/commit/", "status": 500, "times": 2})
    gone = lambda: arena.withdraw(who("author"), valid, "A write.")  # noqa: E731
    assert refusal(gone) == "not_recorded"
    found = httpx.get(f"{api}/healthz").json()
    assert (found["status"], found["store"]["writable"]) == ("degraded", False)
    assert "status 500" in found["trouble"][0]
    gone()
    assert httpx.get(f"{api}/healthz").json()["status"] == "ok"


def test_a_request_keeps_its_id_where_it_is_sane(
    arena: Arena, api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(path: str, given: str) -> str:
        return httpx.get(f"{api}{path}", headers={"X-Request-Id": given}).headers["x-request-id"]

    assert ask("/api/v1/runs", "abc-1.2_3") == "abc-1.2_3"
    assert ask("/api/v1/runs/nothing", "abc") == "abc"
    made = ask("/api/v1/runs", 'x"} {"level": "')
    assert len(made) == 32
    assert made != ask("/api/v1/runs", "y" * 65)
    monkeypatch.setattr(arena.read, "commons", lambda: 1 / 0)
    assert ask("/api/v1/commons", "faulty") == "faulty", "a fault's answer carries it too"


def test_the_counters_count_by_template_and_code(
    arena: Arena, api: str, who: Who, valid: str
) -> None:
    asked = ("arena_requests_total", "GET", "/api/v1/submissions/{submission}", "404")
    unknown = ("arena_errors_total", "unknown_submission")
    landed = ("arena_transactions_total", "landed")
    before = figures(api)
    for name in ("sub_x", "sub_y"):
        httpx.get(f"{api}/api/v1/submissions/{name}")
    arena.launch(who("author"), valid, "demo")
    after = figures(api)
    grown = {key: after[key] - before.get(key, 0) for key in (asked, unknown, landed)}
    assert grown == {asked: 2, unknown: 2, landed: 1}
    assert after["arena_validations_total", "valid"] == 1
    assert (after["arena_runs", "queued"], after["arena_queue_length", "runs"]) == (1, 1)
    assert after["arena_workers", "ready"] == 0
    assert not [key for key in after if "sub_x" in key], "no label is a user's"
    httpx.request("BREW", f"{api}/nothing-{valid}")
    assert not [key for key in figures(api) if "BREW" in key or valid in "".join(key)]


def test_a_log_line_is_json_with_its_request_and_without_secrets(api: str) -> None:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonLines())
    root = logging.getLogger("arena")
    root.addHandler(handler)
    level = root.level
    root.setLevel(logging.INFO)
    try:
        headers = {"X-Request-Id": "mine", "Authorization": "Bearer hf_author"}
        httpx.get(f"{api}/api/v1/whoami?token=hf_query", headers=headers)
        wait_for(out.getvalue)  # it is written once the answer is sent
        root.warning("GET /login/callback?code=secret1&state=s2 by Bearer hf_secret3\nsecond line")
        root.warning("ghp_s4 gho_s5 ghu_s6 ghs_s7 ghr_s8 github_pat_11AA_s9")
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    first, second, _ = (json.loads(line) for line in out.getvalue().splitlines())
    assert (first["request"], first["route"], first["status"]) == ("mine", "/api/v1/whoami", 200)
    assert "request" not in second
    for secret in (
        "hf_author",
        "hf_query",
        "secret1",
        "s2",
        "hf_secret3",
        *(f"s{n}" for n in range(4, 10)),
    ):
        assert secret not in out.getvalue()
