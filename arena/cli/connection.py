"""What every command that asks the arena shares: the client, `--json`, waiting."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Annotated, Any

import typer
from huggingface_hub import get_token

from arena.cli.output import err
from arena.client import DEFAULT_URL, ArenaClient

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for the end; show how far it is.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it is recorded and shown.")]
POLL_SECONDS = 0.7


def client() -> ArenaClient:
    """The client of the arena at ARENA_URL, with the token of HF_TOKEN or the Hub's login."""
    return ArenaClient(os.environ.get("ARENA_URL", DEFAULT_URL), get_token())


def follow(
    read: Callable[[], dict[str, Any]],
    is_over: Callable[[dict[str, Any]], bool],
    describe: Callable[[dict[str, Any]], str],
    quiet: bool,
) -> dict[str, Any]:
    """Reads again and again until it is over; shows each change on stderr."""
    said = ""
    found = read()
    with err.status("", spinner="dots") as status:
        if quiet or not sys.stderr.isatty():
            status.stop()
        while not is_over(found):
            text = describe(found)
            status.update(text)
            if not quiet and not sys.stderr.isatty() and text != said:
                sys.stderr.write(text + "\n")
            said = text
            time.sleep(POLL_SECONDS)
            found = read()
    return found
