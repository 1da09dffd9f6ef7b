"""Nothing acknowledged is lost; nothing that failed is acknowledged: against a real hub."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import uuid4

import httpx
import pytest
from huggingface_hub import HfApi

from arena.errors import NotRecorded
from arena.ledger import Ledger
from arena.records import AnyRecord, ChallengeStateRecord, new_id
from arena.state import ImpossibleMove, State
from arena.store import Store
from tests.hub import RunningHub


def paused(reason: str = "r") -> ChallengeStateRecord:
    return ChallengeStateRecord(
        id=new_id("cst"), by="editor", challenge="demo", state="paused", reason=reason
    )


@pytest.fixture
def open_ledger(hub: RunningHub) -> Callable[..., Ledger]:
    """Opens ledgers on one store, each as a process of its own would."""
    repo = f"arena-bot/ledger-{uuid4().hex[:8]}"

    def start(endpoint: str = hub.url) -> Ledger:
        ledger = Ledger(Store(repo, HfApi(endpoint=endpoint, token="hf_arena")))
        ledger.open()
        return ledger

    return start


def test_records_are_numbered_and_read_back(open_ledger: Callable[..., Ledger]) -> None:
    ledger = open_ledger()
    for number in range(3):
        ledger.transact(lambda state, n=number: [paused(f"{n}a"), paused(f"{n}b")])
    again = open_ledger()
    assert again.state.seq == 6
    assert again.state.challenge_states["demo"].reason == "2b"
    assert again.state == ledger.state


def test_a_decision_that_raises_records_nothing(open_ledger: Callable[..., Ledger]) -> None:
    ledger = open_ledger()
    with pytest.raises(ValueError, match="no"):
        ledger.transact(lambda state: (_ for _ in ()).throw(ValueError("no")))  # type: ignore[arg-type]
    assert open_ledger().state.seq == 0


def test_writers_at_once_each_decide_on_what_is_true(open_ledger: Callable[..., Ledger]) -> None:
    ledgers = [open_ledger() for _ in range(3)]

    def write(ledger: Ledger) -> None:
        for _ in range(5):
            ledger.transact(lambda state: [paused(f"after {state.seq}")])

    threads = [threading.Thread(target=write, args=(ledger,)) for ledger in ledgers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    final = open_ledger().state
    assert final.seq == 15
    assert final.challenge_states["demo"].reason == "after 14"


def test_impossible_records_are_refused_before_they_are_stored(
    open_ledger: Callable[..., Ledger],
) -> None:
    ledger = open_ledger()
    record = paused()
    ledger.transact(lambda state: [record])
    with pytest.raises(ImpossibleMove, match="stands twice"):
        ledger.transact(lambda state: [record])
    assert open_ledger().state.seq == 1


def test_a_commit_whose_answer_was_lost_is_not_made_twice(
    hub: RunningHub, open_ledger: Callable[..., Ledger]
) -> None:
    with faulty(hub.url) as (url, faults):
        ledger = open_ledger(url)
        faults.append("lose the answer")
        records = ledger.transact(lambda state: [paused("once")])
        assert faults == []
        assert [r.seq for r in records] == [1]
    assert open_ledger().state.seq == 1


def test_a_commit_that_was_refused_is_decided_again(
    hub: RunningHub, open_ledger: Callable[..., Ledger]
) -> None:
    decided: list[State] = []

    def decide(state: State) -> list[AnyRecord]:
        decided.append(state)
        return [paused("again")]

    with faulty(hub.url) as (url, faults):
        ledger = open_ledger(url)
        faults += ["fail", "fail"]
        ledger.transact(decide)
    assert len(decided) == 3
    assert open_ledger().state.seq == 1


def test_a_store_that_keeps_failing_says_not_recorded(
    hub: RunningHub, open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ledger.ATTEMPTS", 3)
    with faulty(hub.url) as (url, faults):
        ledger = open_ledger(url)
        faults += ["fail"] * 3
        with pytest.raises(NotRecorded) as caught:
            ledger.transact(lambda state: [paused()])
    assert "500" in caught.value.message
    assert ledger.state.seq == open_ledger().state.seq == 0


@contextmanager
def faulty(hub: str) -> Iterator[tuple[str, list[str]]]:
    """A hub with faults: a proxy whose next commits fail, or land while their answer is lost."""
    faults: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fault = faults.pop(0) if faults and "/commit/" in self.path else None
            if fault == "fail":
                return self.answer(500, b"{}", {})
            headers = {k: v for k, v in self.headers.items() if k.lower() != "host"}
            answer = httpx.request(
                self.command, hub + self.path, content=body, headers=headers, timeout=30
            )
            if fault == "lose the answer":
                return self.answer(500, b"{}", {})
            kept = ("content-length", "transfer-encoding", "connection", "date", "server")
            passed = {k: v for k, v in answer.headers.items() if k not in kept}
            return self.answer(answer.status_code, answer.content, passed)

        def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            length = headers.get("content-length", str(len(body)))
            self.send_header("Content-Length", length)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_HEAD = forward

        def log_message(self, *_: object) -> None:
            """Keeps the tests' output to the tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", faults
    server.shutdown()
