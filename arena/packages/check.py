"""One package against the rule book. Text is read, nothing is executed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from arena.packages.findings import Finding, error, finding, shown
from arena.packages.package import TaskPackage
from arena.packages.reading import PackageText, ResourceCaps
from arena.packages.rules import RULES

MAX_FINDINGS = 100


@dataclass
class PackageReport:
    """What the check of one package found; `package` is None where there is an error.

    `lines` are `path NUL x-bit NUL sha256` of its files, `digest` is over all of them: two packages
    of one content have the same. Both are empty where the files themselves have a fault.
    `has_licence` is None where the front matter can't be read.
    """

    path: str
    name: str
    findings: list[Finding] = field(default_factory=list)
    package: TaskPackage | None = None
    lines: list[str] = field(default_factory=list)
    digest: str = ""
    has_licence: bool | None = None

    @property
    def ok(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)


class PackageError(Exception):
    """A folder that is no sound task package; `findings` say why."""

    def __init__(self, root: Path, findings: Sequence[Finding]) -> None:
        first = next(f for f in findings if f.severity == "error")
        super().__init__(f"{root.name}: {first.file}: {first.message} ({first.code})")
        self.findings = tuple(findings)


def load_package(root: Path) -> TaskPackage:
    """Reads and checks the package at `root`.

    Raises:
        PackageError: the check found an error.
    """
    report = check_package(root)
    if report.package is None:
        raise PackageError(root, report.findings)
    return report.package


def check_package(
    root: Path, caps: ResourceCaps | None = None, alone: bool = True
) -> PackageReport:
    """Checks the package at `root` and loads it where no error was found.

    `caps`: what a challenge gives at most, where one is known. `alone`: it is checked without its
    collection, which could give a licence.
    """
    report = PackageReport(path=str(root), name=root.name)
    if not root.is_dir():
        message = f"{shown(root.name)} is not a folder"
        report.findings.append(error("TP001", message, ".", "Name a folder."))
        return report
    text = PackageText(root, caps, alone)
    report.findings = at_most(rule.of_package(text) for rule in RULES)
    if text.task is not None:
        report.has_licence = text.stated("metadata", "license") is not None
    if not text.listed.findings:
        report.lines = content_lines(text)
        report.digest = hashlib.sha256("\n".join(report.lines).encode()).hexdigest()
    if report.ok and text.front_matter is not None:
        report.package = TaskPackage(root, text.front_matter, text.prompt)
    return report


def content_lines(package: PackageText) -> list[str]:
    """`path NUL x-bit NUL sha256(bytes)` of each file, in order of the paths."""
    return [
        f"{file.path}\0{int(file.executable)}\0{package.hashes[file.path]}"
        for file in package.listed.files
    ]


def at_most(of_rules: Iterable[Iterator[Finding]]) -> list[Finding]:
    """The first findings, errors before warnings: thousands of one fault help nobody."""
    findings = [found for rule in of_rules for found in islice(rule, MAX_FINDINGS + 1)]
    if len(findings) <= MAX_FINDINGS:
        return findings
    worst = sorted(findings, key=lambda found: found.severity != "error")
    left = f"more than {MAX_FINDINGS} findings; the others are not shown"
    more = finding("TP000", "warning", left, ".", "Mend the ones above first.")
    return [*worst[:MAX_FINDINGS], more]
