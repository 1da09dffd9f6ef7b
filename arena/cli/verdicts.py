"""What a replay came to, on a terminal: this machine's own, or the arena's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from arena.cli.output import out, plain

_OUTPUT_LINES = 15
_STYLES = {"proven": "green", "no engine": "yellow"}


def verdict(name: str) -> Text:
    """A verdict in its colour."""
    return Text(plain(name), _STYLES.get(name, "red"))


def outcome(replay: dict[str, Any]) -> Text:
    """How a collection's replay stands, in words; coloured once it is done."""
    if replay["state"] != "done":
        return Text(plain(replay["text"]))
    return Text(replay["text"], "green" if replay["proven"] == replay["total"] else "red")


def rewards(given: Sequence[float | None]) -> str:
    """The rewards of all repeats, each once."""
    shown = dict.fromkeys("none" if reward is None else f"{reward:g}" for reward in given)
    return ", ".join(shown) or "-"


def print_reason(package: str, reason: str, said: Iterable[tuple[str, str]]) -> None:
    """Why a package is not proven, and what there is to read about it, by who said it."""
    out.print(Text(plain(f"{package}: {reason}"), "bold"))
    for who, text in said:
        out.print(f"  {plain(who)}:")
        for line in text.rstrip().splitlines()[-_OUTPUT_LINES:]:
            out.print(f"    {plain(line)}")
    out.print()
