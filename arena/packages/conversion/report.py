"""What became of a task's fields and files: each of them under exactly one heading."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arena.packages.findings import Finding
from arena.packages.formats import Format


class Mapped(NamedTuple):
    """A field or file that stands elsewhere, or means something else, in the package."""

    origin: str
    to: str
    note: str


class Left(NamedTuple):
    """A field or file that the package does not have."""

    what: str
    why: str


@dataclass
class ConversionReport:
    """The account of one conversion. Fields are named `file: path.of.keys`, files by their path.

    `todo` is what the source could not say and its author must; `findings` are the check's.
    """

    source: str
    destination: str
    format: Format
    carried: list[str] = field(default_factory=list)
    mapped: list[Mapped] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    todo: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """The shape of `arena convert --json`."""
        return {
            "source": self.source,
            "destination": self.destination,
            "format": self.format,
            "carried": self.carried,
            "mapped": [{"from": m.origin, "to": m.to, "note": m.note} for m in self.mapped],
            "left": [{"what": left.what, "why": left.why} for left in self.left],
            "todo": self.todo,
            "findings": [finding.model_dump() for finding in self.findings],
        }
