"""What of `arena check --against` and of `arena suite` concerns near copies, for organizers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from arena.cli.output import out, plain, state, table
from arena.packages.findings import shown
from arena.packages.layout import package_folders

if TYPE_CHECKING:  # numpy is loaded where it is used: other commands start without it
    from arena.packages import PackageReport


def near_copies_of(packages: list[PackageReport], suite: Path | None) -> list[dict[str, Any]]:
    """The packages that are too like a task of `suite`, the task named: its owner asks."""
    if suite is None:
        return []
    from arena.nearcopies import compare, open_index

    tasks = suite_packages(suite)
    found = compare([Path(p.path) for p in packages], [open_index(tasks)])
    return [
        {
            "package": near.package,
            "level": near.likeness.level,
            "part": near.likeness.part,
            "similarity": round(near.likeness.similarity, 2),
            "threshold": near.likeness.threshold,
            "task": tasks[near.likeness.task].name,
            "passages": [passage._asdict() for passage in near.passages],
        }
        for near in [*found.copies, *found.suspects]
    ]


def print_near_copies(found: list[dict[str, Any]]) -> None:
    """One row a package and task."""
    table(
        ["package", "verdict", "part", ">similarity", ">threshold", "~task"],
        [
            [
                plain(near["package"]),
                state(near["level"]),
                near["part"],
                f"{near['similarity']:.2f}",
                f"{near['threshold']:.2f}",
                plain(near["task"]),
            ]
            for near in found
        ],
        empty="No near copies.",
    )


def print_copies(copies: list[dict[str, Any]]) -> None:
    """What the arena refuses as near copies of held-out tasks, with the author's own text."""
    out.print("Too close to a held-out task; what matched is your own text:")
    rows = [
        [
            plain(copy["package"]),
            copy["part"],
            f"{copy['similarity']:.1f}",
            f"{copy['threshold']:.2f}",
            plain("\n".join(f"{p['file']}:{p['line']}  {p['text']}" for p in copy["passages"])),
        ]
        for copy in copies
    ]
    table(["package", "what matched", ">similarity", ">refused from", "~text"], rows, empty="")


def print_twins(twins: list[dict[str, Any]]) -> None:
    """Packages of one collection that are near copies of each other."""
    out.print("Alike within the collection; nothing is refused for it:")
    rows = [
        [
            plain(twin["package"]),
            plain(twin["other"]),
            twin["part"],
            f"{twin['similarity']:.1f}",
        ]
        for twin in twins
    ]
    table(["package", "like", "what matched", ">similarity"], rows, empty="")


def suite_packages(folder: Path) -> list[Path]:
    """The packages of a suite's folder; wrong usage where there are none."""
    if not folder.is_dir():
        raise typer.BadParameter(f"{shown(str(folder))} is not a folder")
    if not (packages := package_folders(folder)):
        raise typer.BadParameter(f"{shown(str(folder))} holds no task packages")
    return packages
