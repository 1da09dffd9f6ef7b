"""The same key: the same answer to the same request, an error to another."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from arena.identity import Identity
from arena.runs.messages import Failure
from arena.service import Arena
from tests.service.conftest import refusal, settled
from tests.service.scripted import leased, scored

Who = Callable[[str], Identity]


def post(api: str, account: str, path: str, key: str, **body: str) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer hf_{account}", "Idempotency-Key": key}
    answer = httpx.post(f"{api}/api/v1{path}", json=body, headers=headers, timeout=30)
    return answer.status_code, answer.json()


def test_every_write_answers_a_repeated_key_and_refuses_another_body(
    arena: Arena, api: str, who: Who, valid: str, collection: Callable[..., str]
) -> None:
    source = collection()
    run = arena.launch(who("author"), valid, "demo").id
    scored(arena, run)
    cancelled = arena.submit(who("author"), collection(), "T").id
    settled(arena, cancelled)
    ended = arena.launch(who("author"), cancelled, "demo").id
    writes: list[tuple[str, str, dict[str, str], dict[str, str]]] = [
        ("author", "/submissions", {"source": source, "title": "T"}, {"title": "Other"}),
        ("author", f"/runs/{ended}:cancel", {"reason": "x"}, {"reason": "y"}),
        ("author", "/runs:launch", {"submission": valid, "challenge": "demo"}, {"submission": "z"}),
        ("editor", "/reviews", {"run": run, "verdict": "accepted", "reason": "x"}, {"reason": "y"}),
        ("editor", "/challenges/demo/state", {"state": "paused", "reason": "x"}, {"state": "open"}),
        ("editor", f"/submissions/{valid}:claim", {"author": "rival", "reason": "x"}, {"author": "author"}),
        ("rival", f"/submissions/{valid}:withdraw", {"reason": "x"}, {"reason": "y"}),
    ]  # fmt: skip
    for account, path, body, other in writes:
        first = post(api, account, path, "one", **body)
        assert first[0] == 200, first
        again = post(api, account, path, "one", **body)
        named = [value["id"] for name, value in again[1].items() if name != "ok"]
        assert (again[0], named) == (200, [v["id"] for n, v in first[1].items() if n != "ok"])
        status, refused = post(api, account, path, "one", **body | other)
        assert (status, refused["error"]["code"]) == (422, "idempotency_mismatch"), path
    assert len(arena.ledger.state.requests) == len(writes), "each is recorded once"


def test_a_validation_that_enters_nothing_is_made_once_for_a_key(
    arena: Arena, api: str, collection: Callable[..., str]
) -> None:
    source, other = collection(), collection()

    def ask(_: int) -> str:
        status, answer = post(api, "author", "/submissions:validate", "one", source=source)
        assert status == 200
        return str(answer["validation"]["id"])

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
    status, refused = post(api, "author", "/submissions:validate", "one", source=other)
    assert (status, refused["error"]["code"]) == (422, "idempotency_mismatch")
    assert post(api, "rival", "/submissions:validate", "one", source=other)[0] == 200


def test_what_failed_is_not_kept(arena: Arena, who: Who, valid: str) -> None:
    withdraw = lambda why: arena.withdraw(who("author"), valid, why, key="k")  # noqa: E731
    assert refusal(lambda: withdraw(" ")) == "reason_required"
    assert withdraw("Now with a reason.").state == "withdrawn"


def test_a_worker_that_says_a_failure_again_changes_nothing(
    arena: Arena, who: Who, valid: str
) -> None:
    run = arena.launch(who("author"), valid, "demo").id
    failure = Failure(lease=leased(arena).lease, fault="author", code="gate", reason="1 of 2.")
    arena.queue.fail("arena-worker", run, failure)
    seq = arena.ledger.state.seq
    arena.queue.fail("arena-worker", run, failure)
    assert arena.ledger.state.seq == seq
    other = failure.model_copy(update={"lease": "0" * 32})
    assert refusal(lambda: arena.queue.fail("arena-worker", run, other)) == "lease_lost"
