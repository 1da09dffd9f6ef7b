"""`arena check`: the arena's own checks, offline and without a key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arena.cli.connection import Json
from arena.cli.output import note, out, print_json
from arena.cli.submissions import print_findings
from arena.packages import PackageReport, check_collection, check_package
from arena.packages.findings import RULES_VERSION


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("check")(check)


def check(
    paths: Annotated[list[Path], typer.Argument(help="Packages or collections.")],
    json: Json = False,
) -> int:
    """Check task packages as the arena does. Exit 0: no error; 1: errors; 2: wrong usage."""
    packages: list[PackageReport] = []
    findings: list[dict[str, Any]] = []
    for path in paths:
        if not path.is_dir():
            raise typer.BadParameter(f"{str(path)!r} is not a folder")
        if (path / "task.md").exists():
            packages.append(check_package(path.resolve()))
            continue
        report = check_collection(path.resolve())
        packages += report.packages
        findings += [f.model_dump() | {"package": ""} for f in report.findings]
    findings += [f.model_dump() | {"package": p.name} for p in packages for f in p.findings]
    ok = not any(f["severity"] == "error" for f in findings)
    if json:
        print_json(_answer(ok, packages, [f for f in findings if not f["package"]]))
    elif findings:
        print_findings(findings)
    if not json:
        errors = sum(f["severity"] == "error" for f in findings)
        out.print(f"{len(packages)} packages, {errors} errors, {len(findings) - errors} warnings")
        if ok:
            note("Next: arena submit hf:OWNER/NAME@REVISION --title T --wait")
    return 0 if ok else 1


def _answer(ok: bool, packages: list[PackageReport], own: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "ok": ok,
        "packages": [
            {
                "path": p.path,
                "name": p.name,
                "ok": p.ok,
                "findings": [f.model_dump() for f in p.findings],
            }
            for p in packages
        ],
        "findings": [{k: v for k, v in f.items() if k != "package"} for f in own],
        "near_copies": [],
        "rules": RULES_VERSION,
    }
