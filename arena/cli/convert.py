"""`arena convert`: tasks of other formats into task packages, offline and without a key."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.connection import Json
from arena.cli.findings import print_findings
from arena.cli.output import counted, note, out, plain, print_failure, print_json, table
from arena.errors import ArenaError
from arena.packages.files import slug

if TYPE_CHECKING:  # loaded where it is used: other commands start without it
    from arena.packages.conversion import ConversionReport
    from arena.packages.schema import Domain


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("convert")(convert)


def convert(
    source: Annotated[Path, typer.Argument(help="A task's folder, or a folder of tasks.")],
    destination: Annotated[Path, typer.Argument(help="The package's folder, or their folder.")],
    domain: Annotated[
        str | None, typer.Option("--domain", help="The domain, whatever the tasks say.")
    ] = None,
    json: Json = False,
) -> int:
    """Make task packages of Harbor or Terminal-Bench tasks, and list what became of every part.

    Exit 0: sound packages; 1: not converted, or with errors to mend; 2: wrong usage.
    """
    from arena.packages.conversion import convert as convert_task
    from arena.packages.conversion import recognise_format

    if not os.path.isdir(source):  # noqa: PTH112 (takes a name too long for the disk)
        raise typer.BadParameter(f"{str(source)!r} is not a folder")
    wanted = parse_domain(domain)
    if recognise_format(source) is not None or os.path.lexists(source / "task.md"):
        report = convert_task(source, destination, wanted)
        if json:
            print_json({"ok": report.ok, "tasks": [report.as_dict()], "skipped": []})
        else:
            _show(report)
        return 0 if report.ok else 1
    return _convert_all(source, destination, wanted, json)


def parse_domain(word: str | None) -> Domain | None:
    """The domain that `word` names; wrong usage, with the list of all, where it names none."""
    from arena.packages.schema import Domain, domain_of

    if word is None:
        return None
    domain = domain_of(word)
    if domain is None:
        raise typer.BadParameter(f"{word!r} is no domain; these are: {', '.join(Domain)}")
    return domain


def _convert_all(source: Path, destination: Path, domain: Domain | None, json: bool) -> int:
    from arena.packages.conversion import NoTask, recognise_format
    from arena.packages.conversion import convert as convert_task

    try:
        folders = sorted(path for path in source.iterdir() if path.is_dir())
    except OSError as exc:
        problem = f"it cannot be read ({exc.strerror})"
        raise NoTask(source=repr(str(source)), problem=problem) from exc
    tasks = [path for path in folders if recognise_format(path) is not None]
    skipped = [path.name for path in folders if path not in tasks]
    if not tasks:
        raise NoTask(source=repr(str(source)), problem="it is none, and no folder in it is one")
    answers: list[dict[str, Any]] = []
    good = 0
    for path in tasks:
        target = destination / slug(path.name)
        try:
            report = convert_task(path, target, domain)
        except ArenaError as exc:
            answers.append(_failed(path, target, exc))
            if not json:
                out.print(f"\n{plain(path.name)}: not converted")
                print_failure(exc, as_json=False)
            continue
        answers.append(report.as_dict())
        good += report.ok
        if not json:
            _show(report)
    if json:
        print_json({"ok": good == len(tasks), "tasks": answers, "skipped": skipped})
        return 0 if good == len(tasks) else 1
    failed = sum("error" in answer for answer in answers)
    mend = len(tasks) - failed - good
    out.print(f"\n{len(tasks)} tasks: {good} sound, {mend} with errors to mend, {failed} failed")
    if skipped:
        note(f"Not tasks, and left alone: {', '.join(skipped)}")
    return 0 if good == len(tasks) else 1


def _failed(source: Path, destination: Path, error: ArenaError) -> dict[str, Any]:
    return {
        "source": str(source),
        "destination": str(destination),
        "format": None,
        "carried": [],
        "mapped": [],
        "left": [],
        "todo": [],
        "findings": [],
        "error": error.as_dict(),
    }


def _show(report: ConversionReport) -> None:
    """A report to be read: what became of each part, then what is to be done."""
    out.print(f"\n{plain(report.source)} → {plain(report.destination)} ({report.format})")
    rows = [[what, "as it is", ""] for what in report.carried]
    rows += [[m.origin, m.to, m.note] for m in report.mapped]
    rows += [[left.what, "left", left.why] for left in report.left]
    table(["~in the source", "~in the package", "~note"], rows, empty="Nothing was found.")
    if report.findings:
        print_findings([finding.model_dump() for finding in report.findings])
    if report.todo:
        out.print("For you to look at:")
        for text in report.todo:
            out.print(f"- {plain(text)}")
    errors = sum(finding.severity == "error" for finding in report.findings)
    out.print(
        f"{len(report.carried)} carried, {len(report.mapped)} mapped, {len(report.left)} left; "
        f"{counted(errors, 'error')}, {counted(len(report.findings) - errors, 'warning')}"
    )
    note(f"Next: arena check {shlex.quote(report.destination)}")
