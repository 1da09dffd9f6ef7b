"""One task of another format, made into a task package: all of it, or nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from arena.packages.check import check_package
from arena.packages.conversion.draft import Draft
from arena.packages.conversion.errors import DestinationInUse, NoTask
from arena.packages.conversion.generated import describe_verifier
from arena.packages.conversion.harbor import convert_harbor
from arena.packages.conversion.report import ConversionReport
from arena.packages.conversion.source import Source
from arena.packages.conversion.terminal_bench import convert_terminal_bench
from arena.packages.findings import shown
from arena.packages.formats import recognise_format
from arena.packages.schema import Domain

_SETTINGS = {"harbor": "task.toml", "terminal-bench": "task.yaml"}


def convert(source: Path, destination: Path, domain: Domain | None = None) -> ConversionReport:
    """Makes the task in `source` a task package at `destination`, and checks it.

    Args:
        domain: the package's domain, whatever the source's category says.

    Raises:
        NoTask: `source` is in no format that is known.
        DestinationInUse: `destination` holds something, or lies in `source`.
        NotConverted: the source breaks a limit, or lacks what every task needs.
    """
    task_format = recognise_format(source)
    if task_format is None:
        is_package = not source.is_symlink() and (source / "task.md").exists()
        problem = "it is a task package already" if is_package else "its format is not known"
        raise NoTask(source=shown(str(source)), problem=problem)
    if os.path.islink(destination):  # noqa: PTH114 (takes a name too long for the disk)
        raise DestinationInUse(destination=shown(str(destination)), problem="is a symbolic link")
    root, destination = _real(source), _real(destination)
    _require_free(root, destination)
    report = ConversionReport(str(source), str(destination), task_format)
    draft = Draft(Source(root), report, bag=task_format.replace("-", "_"))
    if task_format == "harbor":
        convert_harbor(draft, domain)
    else:
        convert_terminal_bench(draft, domain)
    _say_that_comments_are_left(draft, _SETTINGS[task_format])
    describe_verifier(draft, destination.name)
    _publish(draft, destination)
    report.findings += check_package(destination).findings
    return report


def _real(path: Path) -> Path:
    """The path without links; unlike Path.resolve it takes a circle of links, too."""
    return Path(os.path.realpath(path))


def _require_free(root: Path, destination: Path) -> None:
    name = shown(str(destination))
    if destination.is_relative_to(root):
        raise DestinationInUse(destination=name, problem="lies in the source")
    try:
        if destination.exists() and not destination.is_dir():
            raise DestinationInUse(destination=name, problem="is no folder")
        if destination.exists() and any(destination.iterdir()):
            raise DestinationInUse(destination=name, problem="is not empty")
    except OSError as exc:
        raise DestinationInUse(destination=name, problem=_said(exc)) from exc


def _publish(draft: Draft, destination: Path) -> None:
    """Writes beside the destination, then renames: nobody ever sees half a package."""
    made: Path | None = None
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".arena-convert-", dir=destination.parent))
        draft.save(made)
        made.chmod(0o755)
        made.rename(destination)
        made = None
    except OSError as exc:
        raise DestinationInUse(destination=shown(str(destination)), problem=_said(exc)) from exc
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def _said(exc: OSError) -> str:
    return f"cannot be written ({exc.strerror or type(exc).__name__})"


def _say_that_comments_are_left(draft: Draft, settings: str) -> None:
    lines = [line for line in draft.source.text(settings).splitlines() if line.startswith("#")]
    if lines:
        draft.left(f"{settings}: comments", f"comments are no fields: {shown(lines[0])}, …")
