"""What the arena has to be told once work ends: again after longer pauses, until it takes it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from arena.client import ArenaClient, RemoteError
from arena.errors import ArenaError
from arena.posttrain.faults import Cancelled

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 1800.0
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 2.0, 60.0


def is_refusal(error: ArenaError) -> bool:
    """Whether the arena answered, and would answer the same again."""
    return isinstance(error, RemoteError) and error.remote_status != 503


def tell(
    client: ArenaClient,
    path: str,
    body: dict[str, Any] | bytes,
    *,
    stopping: threading.Event,
    is_over: Callable[[], bool],
    headers: dict[str, str] | None = None,
) -> None:
    """Tells the arena how work ended, again for half an hour while it cannot take that.

    A worker that is being stopped tries once more.

    Raises:
        ArenaError: it was not taken. Cancelled: `is_over`, so that nobody waits for it any more.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    pause = FIRST_PAUSE_SECONDS
    while not is_over():
        last = stopping.is_set() or time.monotonic() > deadline
        try:
            client.post(path, body, headers=headers)
            return
        except ArenaError as exc:
            if is_refusal(exc) or last:
                raise
            log.warning("%s was not taken yet: %s", path, exc)
        stopping.wait(pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
    raise Cancelled
