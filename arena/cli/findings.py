"""Findings on a terminal, of a check or of a validation."""

from __future__ import annotations

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
                "/".join(part for part in (f.get("package"), f["file"]) if part)
                + (f":{f['line']}" if f["line"] else ""),
                f"{f['message']}\n{f['hint']}",
            ]
            for f in findings
        ],
        empty="No findings.",
    )
