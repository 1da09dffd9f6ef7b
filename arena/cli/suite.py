"""`arena suite seal`: the sealed index of a held-out suite, made where the suite is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.check import checked_packages
from arena.cli.connection import Json
from arena.cli.nearcopies import suite_packages
from arena.cli.output import counted, note, out, plain, print_json
from arena.cli.replay import replay_all, require_sound
from arena.errors import ArenaError
from arena.packages.findings import shown


class SuiteUnproven(ArenaError):
    code, status = "suite_unproven", 422
    text = "{count} of the suite's {all} tasks are not proven; the first is {first}: {reason}"
    advice = "Mend the suite; `arena replay` shows what each oracle and verifier said."


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    suite = typer.Typer(help="The held-out suite, for organizers.", no_args_is_help=True)
    suite.command("seal")(seal)
    app.add_typer(suite, name="suite")


def seal(
    folder: Annotated[Path, typer.Argument(help="The suite: a folder of task packages.")],
    revision: Annotated[
        str, typer.Option("--revision", help="The suite's revision, as the challenge names it.")
    ],
    file: Annotated[Path, typer.Option("--out", help="Where the index goes.")] = Path("index.npz"),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Replay again: base images may have changed.")
    ] = False,
    json: Json = False,
) -> None:
    """Replay the suite and make the index by which the arena knows near copies without holding it.

    Without an index a challenge takes no runs, so none opens with an oracle that fails. The key is
    ARENA_SUITE_KEY, the same as the arena's and the workers'.
    """
    from arena.nearcopies import is_comparable
    from arena.nearcopies import seal as seal_suite
    from arena.settings import suite_key

    key = suite_key(os.environ)
    if not revision.strip():
        raise typer.BadParameter("--revision is the suite's tag, and may not be empty")
    packages = suite_packages(folder)
    if blank := [path.name for path in packages if not is_comparable(path)]:
        said = f"nothing can be compared with {shown(blank[0])}"
        raise typer.BadParameter(f"{said}: it has no prompt, oracle or verifier; check the suite")
    _require_proven(folder, fresh, quiet=json)
    content = seal_suite(packages, key, revision).to_bytes()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    if json:
        facts = {"file": str(file), "tasks": len(packages), "bytes": len(content)}
        print_json({"ok": True, "index": facts | {"revision": revision}})
        return
    out.print(plain(f"{file}: {counted(len(packages), 'task')}, {len(content) / 1e6:.1f} MB"))
    note(f"Next: upload it as index.npz to the dataset SUITE-index, tagged {plain(revision)}")


def _require_proven(folder: Path, fresh: bool, quiet: bool) -> None:
    """Raises SuiteUnproven unless each oracle scores 1.0 and each untouched environment less."""
    reports = checked_packages([folder])
    require_sound(reports)
    rows = replay_all(reports, os.cpu_count() or 1, 1, fresh, quiet)
    if bad := [row for row in rows if row.found.verdict != "proven"]:
        first = bad[0]
        reason = first.found.reason or first.found.verdict
        raise SuiteUnproven(count=len(bad), all=len(rows), first=first.report.name, reason=reason)
