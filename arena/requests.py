"""A write that comes twice: an Idempotency-Key, and what was asked for with it.

A record keeps two hashes of the request that made it: one of user, route and key, by which it is
found, and one of the body, by which the same key with another body is refused.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from arena.errors import BadRequest, IdempotencyMismatch, ReasonRequired
from arena.identity import Identity
from arena.records import AnyRecord
from arena.state import State

MAX_TITLE = 120
MAX_REASON = 1000


class Asked(NamedTuple):
    """A request that carries a key, as it is kept."""

    request: str
    body: str


def asked(who: Identity, route: str, key: str | None, **body: str) -> Asked | None:
    """A request as it is kept; None where it carries no key."""
    if not key:
        return None
    request = hashlib.sha256(f"{who.user}\0{route}\0{key}".encode()).hexdigest()
    content = json.dumps(body, sort_keys=True).encode()
    return Asked(request, hashlib.sha256(content).hexdigest())


def answer_of(state: State, given: Asked | None) -> str | None:
    """The record that the same request made before.

    Raises:
        IdempotencyMismatch: the key came with another body.
    """
    found = state.requests.get(given.request) if given else None
    if found is None or given is None:
        return None
    if found.body != given.body:
        raise IdempotencyMismatch(record=found.record)
    return found.record


def once(
    given: Asked | None, decide: Callable[[State], list[AnyRecord]]
) -> Callable[[State], list[AnyRecord]]:
    """`decide`, unless the request was answered; its first record keeps the request."""

    def unless_answered(state: State) -> list[AnyRecord]:
        if answer_of(state, given):
            return []
        records = decide(state)
        if given is None or not records:
            return records
        kept = {"request": given.request, "request_body": given.body}
        return [records[0].model_copy(update=kept), *records[1:]]

    return unless_answered


def reason_text(text: str) -> str:
    """A reason as it is recorded.

    Raises:
        ReasonRequired, BadRequest.
    """
    text = text.strip()
    if not text or len(text) > MAX_REASON:
        raise ReasonRequired
    if any(unicodedata.category(char) in {"Cc", "Cs"} and char not in "\n\r\t" for char in text):
        raise BadRequest(problem="the reason holds characters that cannot be shown")
    return text


def title_text(text: str) -> str:
    """A title as it is recorded: one line.

    Raises:
        BadRequest.
    """
    text = " ".join(text.split())
    if not text or len(text) > MAX_TITLE:
        raise BadRequest(problem=f"the title has 1 to {MAX_TITLE} characters")
    if not text.isprintable():
        raise BadRequest(problem="the title holds characters that cannot be shown")
    return text
