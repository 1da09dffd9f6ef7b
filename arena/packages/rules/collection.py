"""Rules about a collection as a whole."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from arena.packages.document import DocumentError, parse_document
from arena.packages.files import slug
from arena.packages.findings import shown
from arena.packages.formats import Format
from arena.packages.rules.document import licence_fault
from arena.packages.rules.rule import Fault
from arena.packages.schema import MAX_LICENCE
from arena.packages.yamltext import KeyPath, YamlError, YamlText, load_yaml

if TYPE_CHECKING:
    from arena.packages.check import PackageReport

SETTINGS = "submission.yaml"
CARD = "README.md"
_MAX_SETTINGS = 256 * 1024
_FORMAT_NAMES = {"harbor": "a Harbor task", "terminal-bench": "a Terminal-Bench task"}


class Licence(NamedTuple):
    """The collection's own licence, and where it stands."""

    text: str
    file: str
    line: int | None


@dataclass
class CollectionText:
    """A collection as its rules see it; `folder` holds submission.yaml and the dataset card."""

    folder: Path
    names: list[str]
    least: int
    most: int
    foreign: dict[str, Format] = field(default_factory=dict)
    packages: list[PackageReport] = field(default_factory=list)

    @cached_property
    def settings(self) -> YamlText | YamlError:
        """`submission.yaml`, parsed; empty where there is none."""
        return read_settings(_text_of(self.folder / SETTINGS))

    @cached_property
    def licence(self) -> Licence | None:
        """The collection's licence: of `submission.yaml`, else of the dataset card."""
        settings = self.settings
        if isinstance(settings, YamlText) and isinstance(settings.data, dict):
            text = settings.data.get("license")
            if _is_name(text):
                return Licence(text.strip(), SETTINGS, settings.lines.get(("license",)))
        try:
            card = parse_document(_text_of(self.folder / CARD))
        except DocumentError:
            return None
        text = card.front_matter.get("license")
        if isinstance(text, list) and len(text) == 1:
            text = text[0]  # the Hub lets a card list its licences
        if _is_name(text):
            return Licence(text.strip(), CARD, card.line_of(("license",)))
        return None


def read_settings(text: str) -> YamlText | YamlError:
    """The keys of a `submission.yaml`."""
    try:
        return load_yaml(text)
    except YamlError as exc:
        return exc


def package_count(collection: CollectionText) -> Iterator[Fault]:
    count, least, most = len(collection.names), collection.least, collection.most
    if not least <= count <= most and not (count == 0 and collection.foreign):
        hint = "Packages stand at the root, or under envs/ or tasks/, each with its task.md."
        if count > most:
            hint = "Take some out, or divide them into several collections."
        yield Fault(f"{count} packages; a collection has {least} to {most}", ".", hint)


def no_links(collection: CollectionText) -> Iterator[Fault]:
    for path in sorted(collection.folder.iterdir()):
        if path.is_symlink():
            name = "".join(c if c.isprintable() else "?" for c in path.name)
            yield Fault(f"{shown(path.name)} is a symbolic link", name, "Put the files there.")


def names_differ(collection: CollectionText) -> Iterator[Fault]:
    same: dict[str, list[str]] = {}
    for name in collection.names:
        same.setdefault(re.sub(r"[\s_]+", "-", name.lower()), []).append(name)
    for names in same.values():
        if len(names) > 1:
            hint = "Names of packages must differ, and not in case alone."
            yield Fault(f"{len(names)} packages are named {shown(names[0])}", names[0], hint)


def contents_differ(collection: CollectionText) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for report in collection.packages:
        if report.digest and (other := first.setdefault(report.digest, report.name)) != report.name:
            hint = "Leave one of them out: a second copy teaches nothing."
            yield Fault(f"it has the same content as {shown(other)}", report.name, hint)


def packages_are_licensed(collection: CollectionText) -> Iterator[Fault]:
    bare = [r.name for r in collection.packages if r.has_licence is False]
    if bare and collection.licence is None:
        names = ", ".join(bare[:3]) + (" …" if len(bare) > 3 else "")
        hint = (
            "Everything accepted is released: give `license:` in submission.yaml, in the "
            "dataset card, or in each task.md."
        )
        yield Fault(f"no licence for {names}", SETTINGS, hint)


def licence_is_spdx(collection: CollectionText) -> Iterator[Fault]:
    if collection.licence:
        yield from licence_fault(*collection.licence, forbids=False)


def licence_allows_release(collection: CollectionText) -> Iterator[Fault]:
    if collection.licence:
        yield from licence_fault(*collection.licence, forbids=True)


def tasks_are_packages(collection: CollectionText) -> Iterator[Fault]:
    for name, kind in collection.foreign.items():
        source, target = shlex.quote(name), f"packages/{slug(name.rpartition('/')[2])}"
        if name == ".":
            source, target = "FOLDER", "NEW-FOLDER"
        hint = f"Make a task package of it: arena convert {source} {target}"
        yield Fault(f"this is {_FORMAT_NAMES[kind]}, not a task package", name, hint)


def settings_are_right(collection: CollectionText) -> Iterator[Fault]:
    hint = "Known: team_name, track, license (texts), members (a list of Hub user names)."
    settings = collection.settings
    if isinstance(settings, YamlError):
        yield Fault(settings.message, SETTINGS, hint, settings.line)
        return
    if settings.data is None:
        return
    if not isinstance(settings.data, dict):
        yield Fault("it is not a mapping of keys to values", SETTINGS, hint, 1)
        return
    for path, problem in _settings_problems(settings.data):
        yield Fault(problem, SETTINGS, hint, settings.lines.get(path))


def _settings_problems(data: dict[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    for key in ("team_name", "track", "license"):
        value = data.get(key)
        if value is not None and not _is_name(value):
            yield (key,), f"{key} is {shown(value)}, no text of 1 to {MAX_LICENCE} characters"
    members = data.get("members")
    if members is None:
        return
    if not isinstance(members, list):
        yield ("members",), f"members is {shown(members)}, no list"
        return
    for index, member in enumerate(members):
        if not _is_name(member):
            yield ("members", index), f"members holds {shown(member)}, no user name"


def _is_name(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and 1 <= len(value.strip()) <= MAX_LICENCE and value.isprintable()


def _text_of(path: Path) -> str:
    """A small file's text; empty where it is none."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_SETTINGS:
        return ""
    return path.read_bytes().decode("utf-8", "replace")
