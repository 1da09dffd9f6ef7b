"""`arena check`: the arena's checks, offline and without a key. `arena rules`: its rule book."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from arena.cli.connection import Json
from arena.cli.findings import print_findings
from arena.cli.nearcopies import near_copies_of, print_near_copies
from arena.cli.output import counted, note, out, plain, print_json, state, table
from arena.errors import ArenaError
from arena.packages import PackageReport, ResourceCaps, check_collection, check_package
from arena.packages.files import may_enter, slug
from arena.packages.findings import RULES_VERSION, Finding, shown
from arena.packages.layout import Layout, collection_folders, recognise

_WORDS: dict[Layout, str] = {
    "package": "a task package",
    "collection": "a collection",
    "collections": "a folder of collections",
    "harbor": "a Harbor task",
    "terminal-bench": "a Terminal-Bench task",
    "nothing": "no package",
}
_TEMPLATE = "Start from the template with `arena new NAME`, or name the folder that holds task.md."


class UnknownRule(ArenaError):
    code, status = "unknown_rule", 404
    text = "There is no rule {rule}."
    advice = "`arena rules` lists them."


class NoChallengeFile(ArenaError):
    code, status = "no_challenge_file", 404
    text = "There is no challenge file for {challenge!r}: {problem}."
    advice = "Name one of the folders of challenges/, or set ARENA_CHALLENGES to where they are."


class Checked(NamedTuple):
    """One path that was checked: what it was taken for, and what was found."""

    path: Path
    layout: Layout
    packages: list[PackageReport]
    findings: list[Finding]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("check")(check)
    app.command("rules")(rules)


def check(
    paths: Annotated[list[Path], typer.Argument(help="Packages, collections, or folders of them.")],
    challenge: Annotated[
        str | None, typer.Option("--challenge", help="Compare with what this challenge gives.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="SUITE", help="Look for near copies of its tasks, too."),
    ] = None,
    json: Json = False,
) -> int:
    """Check task packages as the arena does. Exit 0: no error; 1: errors; 2: wrong usage."""
    checked = _check_all(paths, challenge)
    alike = near_copies_of([p for part in checked for p in part.packages], against)
    findings = [found for part in checked for found in _rows(part)]
    has_copies = any(near["level"] == "copy" for near in alike)
    ok = not has_copies and not any(found["severity"] == "error" for found in findings)
    if json:
        print_json(_answer(ok, checked, alike))
    else:
        _print(checked, findings)
        if against:
            print_near_copies(alike)
        _print_next(checked, findings, has_copies)
    return 0 if ok else 1


def rules(
    code: Annotated[str | None, typer.Argument(help="One rule, such as TP012.")] = None,
    json: Json = False,
) -> None:
    """The rule book: every rule, or one with its reason and examples."""
    from arena.packages.rules.book import rule_book

    book = {rule.code: rule for rule in rule_book()}
    if code is not None and code.upper() not in book:
        raise UnknownRule(rule=code)
    chosen = [book[code.upper()]] if code else list(book.values())
    if json:
        shown = [r.model_dump(exclude={"entry"}) | r.entry.model_dump() for r in chosen]
        print_json({"ok": True, "rules": shown, "version": RULES_VERSION})
    elif code:
        rule = chosen[0]
        out.print(f"{rule.code}  {rule.severity}  {rule.part}")
        out.print(f"{rule.entry.title}.\n\n{rule.entry.why}")
        where = f" (in {rule.entry.file})" if rule.entry.file else ""
        for word, text in (("Bad", rule.entry.bad), ("Good", rule.entry.good)):
            out.print(f"\n{word}{where}:")
            for line in text.rstrip("\n").split("\n"):
                out.print(f"    {plain(line)}")
    else:
        table(
            ["code", "severity", "part", "~rule"],
            [[r.code, state(r.severity), r.part, r.entry.title] for r in chosen],
            empty="No rules.",
        )
        note("One of them with examples: arena rules CODE")


def checked_packages(paths: list[Path]) -> list[PackageReport]:
    """The packages at `paths` with what the check found, for commands that go on with them."""
    return [report for part in _check_all(paths) for report in part.packages]


def _check_all(paths: list[Path], challenge: str | None = None) -> list[Checked]:
    """Each path once, in the order in which they are named."""
    _require_folders(paths)
    caps = _caps(challenge) if challenge else None
    different = {os.path.realpath(path): path for path in reversed(paths)}
    return [part for path in reversed(different.values()) for part in _checked(path, caps)]


def _require_folders(paths: list[Path]) -> None:
    for path in paths:
        if not _is_folder(path):
            is_file = os.path.isfile(path)  # noqa: PTH113 (takes a name too long for the disk)
            problem = "is a file; name the package's folder" if is_file else "is not a folder"
            raise typer.BadParameter(f"{shown(str(path))} {problem}")
        if not may_enter(path):
            raise typer.BadParameter(f"{shown(str(path))} can't be read")


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name longer than the file system takes
        return False


def _caps(challenge: str) -> ResourceCaps:
    """What a challenge of this clone gives to training tasks."""
    from arena.challenges import ChallengeFileError, load_challenges

    try:
        found = load_challenges(Path(os.environ.get("ARENA_CHALLENGES", "challenges")))
        return found.training_caps(challenge)
    except KeyError as exc:
        raise NoChallengeFile(challenge=challenge, problem="no such folder") from exc
    except ChallengeFileError as exc:
        raise NoChallengeFile(challenge=challenge, problem=exc) from exc


def _checked(path: Path, caps: ResourceCaps | None) -> list[Checked]:
    layout = recognise(path.resolve())
    if layout == "collections":
        return [part for folder in collection_folders(path) for part in _checked(folder, caps)]
    if layout == "package":
        return [Checked(path, layout, [check_package(path.resolve(), caps)], [])]
    report = check_collection(path.resolve(), caps=caps, jobs=os.cpu_count() or 1)
    return [Checked(path, layout, report.packages, report.findings)]


def _rows(part: Checked) -> list[dict[str, Any]]:
    """A path's findings in the order in which they are mended, with the path to open."""
    places = [(part.path, part.findings)] + [(Path(p.path), p.findings) for p in part.packages]
    return [
        finding.model_dump() | {"package": os.path.relpath(place)}
        for place, findings in places
        for finding in sorted(findings, key=lambda f: (f.file, f.line or 0, f.code))
    ]


def _print(checked: list[Checked], findings: list[dict[str, Any]]) -> None:
    for part in checked:
        count = len(part.packages)
        of = f" of {counted(count, 'package')}" if part.layout == "collection" else ""
        out.print(plain(f"{part.path}: {_WORDS[part.layout]}{of}"))
    if findings:
        print_findings(findings)
    errors = sum(f["severity"] == "error" for f in findings)
    packages = sum(len(part.packages) for part in checked)
    warnings = counted(len(findings) - errors, "warning")
    out.print(f"{counted(packages, 'package')}, {counted(errors, 'error')}, {warnings}")


def _print_next(checked: list[Checked], findings: list[dict[str, Any]], has_copies: bool) -> None:
    if any(part.layout == "nothing" for part in checked):
        note(_TEMPLATE)
    elif foreign := next((p for p in checked if p.layout in {"harbor", "terminal-bench"}), None):
        name = shlex.quote(str(foreign.path))
        note(f"Next: arena convert {name} packages/{slug(foreign.path.resolve().name)}")
    elif any(f["severity"] == "error" for f in findings):
        note("More about a rule, with examples: arena rules CODE")
    elif has_copies:
        note("Next: take the copies out; what is measured with must not be trained on.")
    else:
        note("Next: arena submit hf:OWNER/NAME@REVISION (or github:...) --title T --wait")


def _answer(ok: bool, checked: list[Checked], alike: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "ok": ok,
        "paths": [{"path": str(part.path), "taken_for": _WORDS[part.layout]} for part in checked],
        "packages": [
            {
                "path": p.path,
                "name": p.name,
                "ok": p.ok,
                "findings": [f.model_dump() for f in p.findings],
            }
            for part in checked
            for p in part.packages
        ],
        "findings": [f.model_dump() for part in checked for f in part.findings],
        "near_copies": alike,
        "rules": RULES_VERSION,
    }
