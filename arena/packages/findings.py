"""What a check says: a code that never changes its meaning, where, and how to mend it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Severity = Literal["error", "warning"]

RULES_VERSION = "1.0"
"""Version of the set of checks; it stands in every report, so that two verdicts can be compared."""

MAX_MESSAGE = 500


class Finding(BaseModel):
    """One fault of a package, at a file and line (1-based; None where a line means nothing)."""

    model_config = ConfigDict(frozen=True)

    code: str
    severity: Severity
    message: str
    file: str
    line: int | None = None
    hint: str


def finding(
    code: str, severity: Severity, message: str, file: str, hint: str, line: int | None = None
) -> Finding:
    """A finding whose message, which quotes a package, can be read, stored and listed."""
    return Finding(
        code=code, severity=severity, message=_cut(message), file=file, line=line, hint=hint
    )


def error(code: str, message: str, file: str, hint: str, line: int | None = None) -> Finding:
    """An error: what makes a package unfit for a run."""
    return finding(code, "error", message, file, hint, line)


def _cut(message: str) -> str:
    """A message that quotes a package stays one that can be read, stored and listed."""
    return message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + "…"


def shown(value: object, limit: int = 80) -> str:
    """A value as it stands in a message: quoted, on one line, cut to `limit` characters."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
