"""Collections: the packages of a folder, their licences, and the digest that is their identity."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from arena.packages.check import (
    PackageReport,
    at_most,
    check_package,
    content_lines,
    load_package,
)
from arena.packages.findings import RULES_VERSION, Finding
from arena.packages.layout import FOLDERS, foreign_tasks, package_folders
from arena.packages.package import TaskPackage
from arena.packages.reading import PackageText, ResourceCaps
from arena.packages.rules import RULES
from arena.packages.rules.collection import CollectionText, read_settings
from arena.packages.yamltext import YamlText

MAX_PACKAGES = 200


class Collection(NamedTuple):
    """A sound collection: its digest, its packages by name, the licence of each."""

    digest: str
    packages: list[TaskPackage]
    licences: dict[str, str]


@dataclass
class CollectionReport:
    """What the check of a collection found, over all and per package."""

    findings: list[Finding] = field(default_factory=list)
    packages: list[PackageReport] = field(default_factory=list)
    collection: Collection | None = None
    rules: str = RULES_VERSION

    @property
    def ok(self) -> bool:
        own = not any(finding.severity == "error" for finding in self.findings)
        return own and all(package.ok for package in self.packages)


def load_packages(folder: Path) -> list[TaskPackage]:
    """The packages of a collection's folder, by name.

    Raises:
        PackageError: one of them has an error.
    """
    return [load_package(root) for root in package_folders(folder)]


def check_collection(
    folder: Path,
    min_packages: int = 1,
    max_packages: int = MAX_PACKAGES,
    caps: ResourceCaps | None = None,
) -> CollectionReport:
    """Checks a folder of packages as one collection; `envs/` and `tasks/` stand for theirs."""
    roots = package_folders(folder)
    home = folder.parent if folder.name in FOLDERS else folder
    names = [root.name for root in roots]
    text = CollectionText(home, names, min_packages, max_packages, foreign_tasks(folder))
    report = CollectionReport()
    if len(roots) <= max_packages:  # far too many are not read one by one
        text.packages = [check_package(root, caps, alone=False) for root in roots]
        report.packages = text.packages
    report.findings = at_most(rule.of_collection(text) for rule in RULES)
    if report.ok:
        own = text.licence.text if text.licence else ""
        packages = [r.package for r in report.packages if r.package is not None]
        report.collection = Collection(
            digest=_digest(report.packages),
            packages=packages,
            licences={p.name: p.licence or own for p in packages},
        )
    return report


def collection_digest(roots: Iterable[Path]) -> str:
    """sha256 over the sorted lines `package/path NUL x-bit NUL sha256(bytes)` of the packages.

    Returns:
        64 hexadecimal digits.
    """
    return _digest(
        PackageReport(str(root), root.name, lines=content_lines(PackageText(root)))
        for root in roots
    )


def _digest(packages: Iterable[PackageReport]) -> str:
    lines = sorted(f"{package.name}/{line}\n" for package in packages for line in package.lines)
    return hashlib.sha256("".join(lines).encode("utf-8")).hexdigest()


def submission_settings(text: str) -> dict[str, Any]:
    """The keys of a `submission.yaml`; empty where it does not parse, which is a finding."""
    settings = read_settings(text)
    data = settings.data if isinstance(settings, YamlText) else None
    return data if isinstance(data, dict) else {}
