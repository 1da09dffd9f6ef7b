"""Findings on a terminal, of a check or of a validation."""

from __future__ import annotations

import os
from typing import Any

from arena.cli.output import state, table


def print_findings(findings: list[dict[str, Any]]) -> None:
    """Findings in a table: where, what, how to mend it."""
    table(
        ["code", "severity", "~where", "~what is wrong, and how to mend it"],
        [
            [
                f["code"],
                state(f["severity"]),
                _place(f),
                f"{f['message']}\n{f['hint']}",
            ]
            for f in findings
        ],
        empty="No findings.",
    )


def _place(found: dict[str, Any]) -> str:
    """The path to open, with the line; a finding about a whole folder is at the folder."""
    parts = [found.get("package"), found["file"] if found["file"] != "." else None]
    path = os.path.normpath("/".join(part for part in parts if part) or ".")
    return f"{path}:{found['line']}" if found["line"] else path
