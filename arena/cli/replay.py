"""`arena replay`: each package's oracle and untouched environment, in this machine's containers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from arena.cli.connection import Json
from arena.cli.output import err, note, out, print_json, table
from arena.cli.verdicts import print_reason, rewards, verdict
from arena.errors import ArenaError
from arena.packages import PackageReport

if TYPE_CHECKING:
    from arena.sandbox import Replay


class NoEngine(ArenaError):
    code, status = "no_engine", 503
    text = "{problem}."
    advice = (
        "Start Docker, or name another engine in DOCKER_HOST. As root on Debian, "
        "`python -m local.engine start` in a clone starts a private one and prints its address."
    )


class NoBuilder(ArenaError):
    code, status = "no_docker_command", 503
    text = "{problem}."
    advice = (
        "Install the docker command, from version 23 on with its buildx plugin: on Debian "
        "docker.io, with docker-cli and docker-buildx where there are such packages."
    )


class Unsound(ArenaError):
    code, status = "unsound_packages", 400
    text = "{count} of {all} packages have errors, {first} first; only sound ones are replayed."
    advice = "Mend what `arena check` lists for the same paths."


class NoPackages(ArenaError):
    code, status = "no_packages", 400
    text = "There is no task package at {paths}."
    advice = "Start from the template with `arena new NAME`, or name the folder that holds task.md."


class Row(NamedTuple):
    """One package with its verdict, and whether that was known from an earlier replay."""

    report: PackageReport
    found: Replay
    known: bool


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("replay")(replay)


def replay(
    paths: Annotated[list[Path], typer.Argument(help="Packages, collections, or folders of them.")],
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, max=64, help="Packages at a time; default: one a core."),
    ] = None,
    repeat: Annotated[
        int,
        typer.Option("--repeat", min=1, max=100, help="Trials of each kind, to find flaky ones."),
    ] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget earlier verdicts.")] = False,
    json: Json = False,
) -> int:
    """Run each oracle, which must score 1.0, and each untouched environment, which must not.

    Exit 0: all proven; 1: not all; 2: wrong usage.
    """
    from arena.cli.check import checked_packages

    reports = checked_packages(paths)
    if not reports:
        raise NoPackages(paths=", ".join(map(str, paths)))
    require_sound(reports)
    rows = replay_all(reports, jobs or os.cpu_count() or 1, repeat, fresh, quiet=json)
    ok = all(row.found.verdict == "proven" for row in rows)
    if json:
        print_json({"ok": ok, "packages": [_as_dict(row) for row in rows]})
    else:
        _print(rows)
    return 0 if ok else 1


def require_sound(reports: list[PackageReport]) -> None:
    """Raises Unsound where a package can't be read as one."""
    if bad := [report for report in reports if report.package is None]:
        raise Unsound(count=len(bad), all=len(reports), first=bad[0].name)


def replay_all(
    reports: list[PackageReport], jobs: int, repeat: int, fresh: bool, quiet: bool
) -> list[Row]:
    """What came of each package, replayed now or known from before.

    Raises:
        NoEngine, NoBuilder: none can be replayed here.
    """
    from arena.sandbox import Caps, EngineUnavailable, NoDockerCommand, Sandbox
    from arena.sandbox import replay as replay_one
    from arena.sandbox.replay_cache import ReplayCache, default_folder

    caps = Caps()  # none but what each package asks for
    cache = ReplayCache(default_folder(), caps)
    for report in reports if fresh else ():
        # So that whatever ends this one, the next has something to do, and sweeps before it does.
        cache.forget(report.digest, repeat)
    known = {} if fresh else {r.path: cache.get(r.digest, repeat) for r in reports}
    if not fresh and all(known.values()):
        return [Row(r, found, True) for r in reports if (found := known[r.path])]

    def one(report: PackageReport) -> Row:
        earlier = known.get(report.path)
        if earlier is None and report.package is not None:
            found = replay_one(sandbox, report.package, repeat)
            cache.put(report.digest, repeat, found)
            row = Row(report, found, False)
        else:
            assert earlier is not None
            row = Row(report, earlier, True)
        advance()
        return row

    try:
        with Sandbox(jobs=jobs, caps=caps) as sandbox, _progress(len(reports), quiet) as advance:
            sandbox.sweep()
            rows = sandbox.map(one, reports)
    except NoDockerCommand as exc:
        raise NoBuilder(problem=str(exc)[:1].upper() + str(exc)[1:]) from exc
    except EngineUnavailable as exc:
        raise NoEngine(problem=str(exc)[:1].upper() + str(exc)[1:]) from exc
    if cache.trouble:
        note(f"No verdict is kept for the next time: {cache.trouble}")
    return rows


@contextmanager
def _progress(total: int, quiet: bool) -> Iterator[Any]:
    """A bar on stderr where somebody looks at it; yields what moves it on by one."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    if quiet or not err.is_terminal:
        yield lambda: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)


def _print(rows: list[Row]) -> None:
    table(
        ["~package", ">oracle", ">untouched", "verdict", ">seconds"],
        [
            [
                row.report.name,
                rewards(row.found.oracle),
                rewards(row.found.untouched),
                verdict(row.found.verdict),
                "known" if row.known else f"{row.found.seconds:.1f}",
            ]
            for row in rows
        ],
        empty="No packages.",
    )
    failed = [row for row in rows if row.found.verdict != "proven"]
    for row in failed:
        print_reason(row.report.name, row.found.reason, row.found.outputs.items())
    out.print(f"{len(rows) - len(failed)} of {len(rows)} proven")
    if any(row.known for row in rows):
        note("Known: the same content was replayed before; --fresh runs it again.")


def _as_dict(row: Row) -> dict[str, Any]:
    found = row.found.model_dump(mode="json")
    return {
        "path": row.report.path,
        "name": row.report.name,
        "ok": row.found.verdict == "proven",
        "known": row.known,
        **found,
    }
