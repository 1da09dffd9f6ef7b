"""Following what was entered: over an arena that is away, or has not read it yet."""

from collections.abc import Callable
from typing import Any

import pytest

from arena.cli import connection
from arena.cli.connection import follow
from arena.client import ArenaUnreachable, RemoteError

QUEUED, VALID = {"state": "queued"}, {"state": "valid"}


def following(
    *answers: dict[str, Any] | Exception, found: dict[str, Any] | None = None
) -> dict[str, Any]:
    left = iter(answers)

    def read() -> dict[str, Any]:
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return follow(read, lambda s: s["state"] == "valid", lambda s: s["state"], True, found)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "POLL_SECONDS", 0.0)


def unknown() -> RemoteError:
    return RemoteError("unknown_submission", "There is none.", "Look again.", 404)


def unreachable() -> ArenaUnreachable:
    return ArenaUnreachable(url="http://x", problem="ReadError")


@pytest.mark.parametrize("trouble", [unknown, unreachable])
def test_what_was_entered_is_waited_for(trouble: Callable[[], Exception]) -> None:
    assert following(trouble(), QUEUED, trouble(), VALID, found=QUEUED) == VALID


def test_what_nobody_has_seen_is_not_waited_for() -> None:
    with pytest.raises(RemoteError, match="unknown_submission"):
        following(unknown(), VALID)


def test_waiting_for_an_arena_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "AWAY_SECONDS", 0.0)
    with pytest.raises(RemoteError, match="unknown_submission"):
        following(unknown(), unknown(), unknown(), VALID, found=QUEUED)
