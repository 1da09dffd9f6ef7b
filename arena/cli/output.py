"""Printing: data to stdout, messages to stderr. What users wrote is never read as markup."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.errors import ArenaError
from arena.plaintext import plain as plain

# what is not read on a terminal is never cut to a terminal's width
out = Console(
    markup=False,
    highlight=False,
    emoji=False,
    soft_wrap=True,
    width=None if sys.stdout.isatty() else 10_000,
)
err = Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True)
STYLES = {
    "valid": "green",
    "scored": "cyan",
    "accepted": "green",
    "invalid": "red",
    "failed": "red",
    "rejected": "red",
    "error": "red",
    "warning": "yellow",
    "open": "green",
    "paused": "yellow",
    "ok": "green",
    "fail": "red",
    "skip": "yellow",
}


def print_json(data: dict[str, Any]) -> None:
    """One JSON object, and nothing else."""
    text = json.dumps(data, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # a name that is no UTF-8, or a terminal that shows ASCII alone
        text = json.dumps(data, indent=2)
    sys.stdout.write(text + "\n")


def print_failure(error: ArenaError, as_json: bool) -> None:
    """An error: as JSON on stdout, else in words on stderr."""
    if as_json:
        print_json({"ok": False, "error": error.as_dict()})
        return
    shown = error.as_dict()
    message = plain(shown["message"])
    err.print(Text(f"Error ({shown['code']}): ", "bold red").append(message, "default"))
    err.print(Text(f"Next: {plain(shown['next'])}"))


def note(text: str) -> None:
    """A message beside the data."""
    err.print(Text(plain(text), "dim"))


def note_more(answer: dict[str, Any]) -> None:
    """Says of a list that was not read to its end how much more there is."""
    if (offset := answer["next_offset"]) is not None:
        note(f"{answer['total'] - offset} older ones are not shown.")


def counted(count: int, what: str) -> str:
    """A count with its noun."""
    return f"{count} {what}" + "s" * (count != 1)


def state(name: str) -> Text:
    """A state in its colour."""
    return Text(plain(name), STYLES.get(name, ""))


def facts(rows: Iterable[tuple[str, str | Text | None]]) -> None:
    """A list of names and values; those without a value are left out."""
    shown = [(name, value) for name, value in rows if value is not None]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        out.print(Text.assemble((f"{name:<{width}}  ", "dim"), _cell(value)))


def _cell(value: str | Text) -> str | Text:
    return plain(value) if isinstance(value, str) else value


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]], empty: str) -> None:
    """A table: columns named `>x` align right, `~x` may wrap; ids and numbers stay whole.

    Where there is no row, `empty` says what to do.
    """
    rows = list(rows)
    if not rows:
        note(empty)
        return
    made = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in columns:
        made.add_column(
            name.lstrip(">~"),
            justify="right" if name.startswith(">") else "left",
            no_wrap=not name.startswith("~"),
            min_width=8 if name.startswith("~") else None,
            overflow="fold",
        )
    for row in rows:
        made.add_row(*map(_cell, row))
    out.print(made, soft_wrap=False, crop=False)
