"""`arena history`."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.addresses import address
from arena.cli.connection import Json, client
from arena.cli.output import note, print_json, table


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("history")(history)


def history(
    id: Annotated[
        str, typer.Argument(help="A submission, run or challenge, or a collection's digest.")
    ],
    offset: Annotated[int, typer.Option("--offset", help="How many records to skip.")] = 0,
    json: Json = False,
) -> None:
    """Every record that touched something: who, when (UTC), what, why."""
    answer = client().get(address("history", id), offset=offset, limit=200)
    if json:
        print_json(answer)
        return
    table(
        ["when (UTC)", "who", "~what", "~why"],
        [
            [row["at"][:19].replace("T", " "), row["by"], row["what"], row["reason"] or ""]
            for row in answer["history"]
        ],
        empty="No record of it since it was set up.",
    )
    if answer["next_offset"]:
        note(f"More: arena history {id} --offset {answer['next_offset']}")
