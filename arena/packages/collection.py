"""Collections: the packages of a folder, their licences, and the digest that is their identity."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from arena.packages.check import PackageReport, check_package, load_package
from arena.packages.document import DocumentError, parse_document
from arena.packages.files import list_files
from arena.packages.findings import RULES_VERSION, Finding, error, shown
from arena.packages.package import TaskPackage
from arena.packages.schema import MAX_LICENCE
from arena.packages.yamltext import YamlError, load_yaml

MAX_PACKAGES = 200
_FOLDERS = ("envs", "tasks")
_MARKERS = ("task.md", "environment", "verifier", "oracle")


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


def package_folders(folder: Path) -> list[Path]:
    """The folders of packages in a collection: at its root, or under `envs/` or `tasks/`.

    Folders whose name starts with `_` or `.` are none, nor are folders without any part of one.
    """
    for name in _FOLDERS:
        if (folder / name).is_dir() and not (folder / name).is_symlink():
            folder = folder / name
            break
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_dir()
        and not path.is_symlink()
        and path.name[0] not in "_."
        and any((path / marker).exists() for marker in _MARKERS)
    )


def load_packages(folder: Path) -> list[TaskPackage]:
    """The packages of a collection's folder, by name.

    Raises:
        PackageError: one of them has an error.
    """
    return [load_package(root) for root in package_folders(folder)]


def check_collection(
    folder: Path, min_packages: int = 1, max_packages: int = MAX_PACKAGES
) -> CollectionReport:
    """Checks a folder of packages as one collection."""
    report = CollectionReport()
    roots = package_folders(folder)
    report.findings += _check_links(folder)
    report.findings += _check_count(len(roots), min_packages, max_packages)
    if len(roots) > max_packages:
        return report  # far too many are not read one by one
    report.packages = [check_package(root) for root in roots]
    report.findings += _check_names(root.name for root in roots)
    own_licence = collection_licence(folder)
    report.findings += _check_licences(report.packages, own_licence)
    if report.ok:
        packages = [r.package for r in report.packages if r.package is not None]
        report.collection = Collection(
            digest=collection_digest(roots),
            packages=packages,
            licences={p.name: p.licence or own_licence or "" for p in packages},
        )
    return report


def collection_digest(roots: Iterable[Path]) -> str:
    """sha256 over the sorted lines `package/path NUL x-bit NUL sha256(bytes)` of the packages.

    Returns:
        64 hexadecimal digits.
    """
    lines = []
    for root in roots:
        for file in list_files(root).files:
            content = hashlib.sha256((root / file.path).read_bytes()).hexdigest()
            lines.append(f"{root.name}/{file.path}\0{int(file.executable)}\0{content}")
    text = "".join(line + "\n" for line in sorted(lines))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def submission_settings(text: str) -> dict[str, Any]:
    """The keys of a `submission.yaml`; empty where it does not parse."""
    try:
        data = load_yaml(text).data
    except YamlError:
        return {}
    return data if isinstance(data, dict) else {}


def collection_licence(folder: Path) -> str | None:
    """The collection's licence: of `submission.yaml`, else of the dataset card (`README.md`)."""
    licence = submission_settings(_text_of(folder / "submission.yaml")).get("license")
    if not licence:
        try:
            card = parse_document(_text_of(folder / "README.md"))
            licence = card.front_matter.get("license")
        except DocumentError:
            licence = None
    if not isinstance(licence, str) or not licence.isprintable():
        return None
    return licence if 1 <= len(licence.strip()) <= MAX_LICENCE else None


def _text_of(path: Path) -> str:
    """A file's text; empty where it is none, or not UTF-8."""
    if path.is_symlink() or not path.is_file():
        return ""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def _check_count(count: int, least: int, most: int) -> Iterator[Finding]:
    if not least <= count <= most:
        hint = (
            "Take some out, or divide them into several collections."
            if count > most
            else "Packages stand at the root, or under envs/ or tasks/, each with its task.md."
        )
        yield error("TP009", f"{count} packages; a collection has {least} to {most}", ".", hint)


def _check_links(folder: Path) -> Iterator[Finding]:
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            hint = "Put the files themselves there."
            yield error("TP007", f"{shown(path.name)} is a symbolic link", path.name, hint)


def _check_names(names: Iterable[str]) -> Iterator[Finding]:
    for name, count in Counter(re.sub(r"[\s_]+", "-", n.lower()) for n in names).items():
        if count > 1:
            hint = "Names of packages must differ, and not in case alone."
            yield error("TP010", f"{count} packages are named {shown(name)}", name, hint)


def _check_licences(packages: list[PackageReport], own: str | None) -> Iterator[Finding]:
    bare = [r.name for r in packages if r.package is not None and not r.package.licence]
    if bare and own is None:
        yield error(
            "TP014",
            f"no licence for {', '.join(bare[:3])}{' …' if len(bare) > 3 else ''}",
            "submission.yaml",
            "Everything accepted is released: give `license:` in submission.yaml, in the "
            "dataset card, or in each task.md.",
        )
