"""What a folder is: a package, a collection, several, or a task of another format."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from arena.packages.files import may_enter
from arena.packages.formats import Format, recognise_format

FOLDERS = ("envs", "tasks")
"""Folders of a collection under which its packages may stand."""

_MARKERS = ("task.md", "environment", "verifier", "oracle")

Layout = Literal["package", "collection", "collections", "harbor", "terminal-bench", "nothing"]


def recognise(path: Path) -> Layout:
    """What to take a folder for."""
    if (path / "task.md").exists():
        return "package"
    if foreign := recognise_format(path):
        return foreign
    if package_folders(path) or foreign_tasks(path):
        return "collection"
    if _is_package(path) and path.name not in FOLDERS:
        return "package"
    return "collections" if collection_folders(path) else "nothing"


def package_folders(folder: Path) -> list[Path]:
    """The folders of packages in a collection: at its root, and under `envs/` or `tasks/`.

    Folders whose name starts with `_` or `.` are none, nor are folders without any part of one.
    """
    found = [
        path
        for place in (folder, *(folder / name for name in FOLDERS))
        for path in _folders(place)
        if _is_package(path) and recognise_format(path) is None
    ]
    return sorted(found, key=lambda path: path.name)


def foreign_tasks(folder: Path) -> dict[str, Format]:
    """The tasks of other formats that stand where packages would, by name."""
    found: dict[str, Format] = {}
    if own := recognise_format(folder):
        return {".": own}
    for place in (folder, *(folder / name for name in FOLDERS)):
        for path in _folders(place):
            if kind := recognise_format(path):
                found[path.relative_to(folder).as_posix()] = kind
    return found


def collection_folders(folder: Path) -> list[Path]:
    """The collections that stand side by side in a folder."""
    return [path for path in _folders(folder) if package_folders(path) or foreign_tasks(path)]


def _folders(place: Path) -> list[Path]:
    if place.is_symlink() or not place.is_dir() or not may_enter(place):
        return []
    return sorted(
        path
        for path in place.iterdir()
        if path.name[0] not in "_." and path.is_dir() and not path.is_symlink()
    )


def _is_package(path: Path) -> bool:
    """What can't be looked into is taken for one: its check says so, and it isn't passed over."""
    return not may_enter(path) or any((path / marker).exists() for marker in _MARKERS)
