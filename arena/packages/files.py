"""The files of a folder, listed without following anything, and the limits they must keep."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from arena.packages.findings import Finding, error, shown

MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_PACKAGE_BYTES = 64 * 1024 * 1024
MAX_PACKAGE_FILES = 2_000
MAX_DEPTH = 16
_MAX_ENTRIES = 2 * MAX_PACKAGE_FILES

_MIB = 1024 * 1024


class PackageFile(NamedTuple):
    """A regular file: its path below the package with `/`, its size, whether it is executable."""

    path: str
    size: int
    executable: bool


class FileList(NamedTuple):
    """The regular files of a folder in sorted order, and what else was found there."""

    files: list[PackageFile]
    findings: list[Finding]


def list_files(root: Path) -> FileList:
    """Lists the regular files below `root`; links, devices, `.git` and excess become findings."""
    files: list[PackageFile] = []
    findings: list[Finding] = []
    pending = [""]
    entries = 0
    if not may_enter(root):
        return FileList([], [_unsafe(".", "the folder can't be read")])
    while pending:
        folder = pending.pop()
        if folder.count("/") >= MAX_DEPTH:
            findings.append(_size_error(folder, f"folders nested deeper than {MAX_DEPTH}"))
            continue
        for entry in os.scandir(root / folder if folder else root):
            entries += 1
            path = f"{folder}/{entry.name}" if folder else entry.name
            mode = entry.stat(follow_symlinks=False)
            needed = os.R_OK | os.X_OK if stat.S_ISDIR(mode.st_mode) else os.R_OK
            if is_unsafe_name(entry.name):
                findings.append(_unsafe(path, f"the name {shown(entry.name)} is not allowed"))
            elif not entry.is_symlink() and not os.access(entry.path, needed):
                findings.append(_unsafe(path, f"{shown(path)} can't be read"))
            elif stat.S_ISDIR(mode.st_mode):
                pending.append(path)
            elif stat.S_ISREG(mode.st_mode):
                files.append(PackageFile(path, mode.st_size, bool(mode.st_mode & 0o111)))
            else:
                kind = "a symbolic link" if stat.S_ISLNK(mode.st_mode) else "a special file"
                findings.append(_unsafe(path, f"{shown(path)} is {kind}"))
            if len(files) > MAX_PACKAGE_FILES or entries > _MAX_ENTRIES:
                findings.append(_size_error(".", f"more than {MAX_PACKAGE_FILES:,} files"))
                return FileList(sorted(files), findings)
    return FileList(sorted(files), findings + _size_findings(files))


def may_enter(folder: Path | str) -> bool:
    """Whether the files of a folder may be listed and read."""
    return os.access(folder, os.R_OK | os.X_OK)


def slug(name: str) -> str:
    """A package's name for a task of any name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:64].strip("-") or "task"


def is_unsafe_name(name: str) -> bool:
    """Names that nobody can read for certain, control and direction marks among them, too."""
    return name == ".git" or not name.isprintable() or "\\" in name


def _unsafe(path: str, message: str) -> Finding:
    return error(
        "TP007",
        message,
        "".join(char if char.isprintable() else "?" for char in path),
        "Keep plain files and folders only: no links, devices, .git or control characters.",
    )


def _size_error(path: str, message: str) -> Finding:
    return error("TP008", message, path, "Make the seed data smaller, or generate it in the image.")


def _size_findings(files: list[PackageFile]) -> list[Finding]:
    findings = [
        _size_error(file.path, f"{file.size:,} bytes, and a file may have {_limit(MAX_FILE_BYTES)}")
        for file in files
        if file.size > MAX_FILE_BYTES
    ]
    total = sum(file.size for file in files)
    if total > MAX_PACKAGE_BYTES:
        said = f"{total:,} bytes in all, and a package may have {_limit(MAX_PACKAGE_BYTES)}"
        findings.append(_size_error(".", said))
    return findings


def _limit(size: int) -> str:
    return f"{size:,} ({size // _MIB} MiB)"
