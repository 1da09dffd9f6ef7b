"""Lists over REST: parts, and the whole of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from arena.client import ArenaClient
from arena.identity import Identity
from arena.service import Arena


def test_a_list_is_read_to_its_end(
    arena: Arena,
    who: Callable[[str], Identity],
    collection: Callable[..., str],
    api: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena.client._PAGE", 2)
    client = ArenaClient(api, None)
    entered: list[str] = []
    for _ in range(5):
        found = client.get_all("/submissions", "submissions", by="author")
        assert [s["id"] for s in found["submissions"]] == entered
        assert (found["total"], found["next_offset"]) == (len(entered), None)
        entered.insert(0, arena.submit(who("author"), collection(), "T").id)
