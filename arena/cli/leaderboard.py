"""`arena leaderboard`."""

from __future__ import annotations

import csv
import sys
from typing import Annotated, Any

import typer

from arena.cli.connection import Json, client
from arena.cli.output import print_json, table
from arena.figures import interval, pp

COLUMNS = ["rank", "title", "author", "mean_change_pp", "stderr_pp", "accepted", "scored", "tasks"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("leaderboard")(leaderboard)


def leaderboard(
    challenge: Annotated[str, typer.Option("--challenge", help="The challenge's id.")] = "demo",
    json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Collections by mean change over accepted runs."""
    answer = client().get_all("/leaderboard", "rows", challenge=challenge)
    rows: list[dict[str, Any]] = answer["rows"]
    if json:
        print_json(answer)
    elif as_csv:
        _print_csv(rows)
    else:
        table(
            [">rank", "~collection", "author", ">mean change pp", "95 % interval", ">accepted"],
            [
                [
                    "–" if r["rank"] is None else str(r["rank"]),
                    r["title"],
                    r["author"],
                    pp(r["mean_change_pp"]),
                    interval(r["ci95_pp"]),
                    f"{r['accepted']} of {r['scored']}",
                ]
                for r in rows
            ],
            empty="No collection was run on this challenge yet.",
        )


def _print_csv(rows: list[dict[str, Any]]) -> None:
    domains = sorted({domain for row in rows for domain in row["domains"]})
    writer = csv.writer(sys.stdout)
    writer.writerow([*COLUMNS, "ci95_low_pp", "ci95_high_pp", "source", "collection", *domains])
    for row in rows:
        low, high = row["ci95_pp"] or (None, None)
        values = [row[name] for name in COLUMNS]
        own = [row["domains"].get(domain) for domain in domains]
        writer.writerow(
            [_cell(v) for v in (*values, low, high, row["source"], row["collection"])] + own
        )


def _cell(value: object) -> object:
    """Text that a spreadsheet would take for a formula is made plain text."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" else value
