"""What every command that asks the arena shares: the client, `--json`, waiting."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from arena.addresses import DEFAULT_URL
from arena.cli.output import err, note, plain
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.client import ArenaClient

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for the end; show how far it is.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it is recorded and shown.")]
POLL_SECONDS = 0.7
AWAY_SECONDS = 600.0  # how long a restart may take
_AWAY = {"arena_unreachable", "store_unavailable"}
_BEHIND = {"unknown_submission", "unknown_run"}  # of two processes, one reads what the other wrote
_COUNTS = re.compile(r" \d+/\d+(, .*)?$")


def client(quiet: bool = False) -> ArenaClient:
    """The client of the arena at ARENA_URL, with the token of HF_TOKEN or the Hub's login.

    While a write waits for its commit, it says so on stderr, unless it is to be `quiet`.
    """
    # what works offline (`arena check`) starts without these; they take half a second to load
    from huggingface_hub import get_token

    from arena.client import ArenaClient

    url = os.environ.get("ARENA_URL", DEFAULT_URL)
    return ArenaClient(url, get_token(), tell=None if quiet else note)


def follow(
    read: Callable[[], dict[str, Any]],
    is_over: Callable[[dict[str, Any]], bool],
    describe: Callable[[dict[str, Any]], str],
    quiet: bool,
    found: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Reads again and again until it is over; shows each change on stderr.

    `found` is what was read so far, if anything. An arena that is away for some minutes, or has not
    read it yet, as where it is started anew, is waited for: what is followed goes on there.
    """
    said, away = "", 0.0
    found = found or read()
    on_terminal = sys.stderr.isatty() and not quiet
    with err.status("", spinner="dots") if on_terminal else nullcontext() as status:
        while not is_over(found):
            text = "the arena does not answer; waiting for it" if away else describe(found)
            stage = _COUNTS.sub("", text)
            if status:
                status.update(Text(plain(text)))
            elif not quiet and stage != said:
                sys.stderr.write(plain(stage) + "\n")  # a log gets the stages, not every count
            said = stage
            time.sleep(POLL_SECONDS)
            try:
                found, away = read(), 0.0
            except ArenaError as exc:
                away = away or time.monotonic()
                passing = exc.as_dict()["code"] in _AWAY | _BEHIND
                if not passing or time.monotonic() - away > AWAY_SECONDS:
                    raise
    return found
