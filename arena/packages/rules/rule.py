"""What a rule is: a code, a severity, and a small function that finds its fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from arena.packages.findings import Finding, Severity, finding

if TYPE_CHECKING:
    from arena.packages.reading import PackageText
    from arena.packages.rules.collection import CollectionText


class Fault(NamedTuple):
    """Where a rule is broken: the message with the value found, the file, how to mend it."""

    message: str
    file: str
    hint: str
    line: int | None = None


PackageCheck = Callable[["PackageText"], Iterator[Fault]]
CollectionCheck = Callable[["CollectionText"], Iterator[Fault]]


@dataclass(frozen=True)
class Rule:
    """One row of the rule book; a rule looks at packages, at their collection, or at both."""

    code: str
    severity: Severity
    package: PackageCheck | None = None
    collection: CollectionCheck | None = None

    @property
    def part(self) -> str:
        """The part of a package that the rule is about: the module that holds it."""
        check = self.package or self.collection
        return check.__module__.rpartition(".")[2] if check else ""

    def of_package(self, package: PackageText) -> Iterator[Finding]:
        """What the rule finds in one package."""
        for fault in self.package(package) if self.package else ():
            yield finding(self.code, self.severity, *fault)

    def of_collection(self, collection: CollectionText) -> Iterator[Finding]:
        """What the rule finds in a collection as a whole."""
        for fault in self.collection(collection) if self.collection else ():
            yield finding(self.code, self.severity, *fault)
