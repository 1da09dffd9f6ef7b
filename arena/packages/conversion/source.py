"""A stranger's task on disk: listed without following anything, read within limits."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from arena.packages.conversion.errors import NotConverted
from arena.packages.files import PackageFile, list_files
from arena.packages.findings import shown
from arena.packages.yamltext import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    MAX_NUMBER,
    YamlError,
    load_yaml,
)

# tomllib's time grows with the square of a dotted key's parts
_LONG_KEY = re.compile(
    r"(?<![\w\"'-])(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+)"
    f"{{{MAX_DEPTH}}}"
)


class Source:
    """The files of one task. Reading raises NotConverted with what is wrong and what to do."""

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            listed = list_files(root)
        except OSError as exc:
            raise self.refused(f"{exc.strerror or 'it cannot be read'}") from exc
        if listed.findings:
            first, *more = listed.findings
            also = f" (and {len(more)} more findings)" if more else ""
            raise NotConverted(
                source=shown(root.name), problem=first.message + also, following=first.hint
            )
        self.files: dict[str, PackageFile] = {file.path: file for file in listed.files}

    def refused(
        self, problem: str, following: str = "Mend the source, then convert it again."
    ) -> NotConverted:
        """The error that says why this task is not converted."""
        return NotConverted(source=shown(self.root.name), problem=problem, following=following)

    def below(self, folder: str) -> list[str]:
        """The paths of the files in `folder`, at any depth."""
        return [path for path in self.files if path.startswith(folder + "/")]

    def data(self, path: str) -> bytes:
        try:
            return (self.root / path).read_bytes()
        except OSError as exc:
            raise self.refused(f"{path}: {exc.strerror or 'it cannot be read'}") from exc

    def text(self, path: str) -> str:
        """A file's text; the file must exist, be UTF-8, and have at most 256 KiB."""
        if path not in self.files:
            raise self.refused(f"{path} is missing")
        if self.files[path].size > MAX_BYTES:
            raise self.refused(f"{path} has more than {MAX_BYTES // 1024} KiB")
        try:
            return self.data(path).decode("utf-8")
        except UnicodeDecodeError as exc:
            raise self.refused(f"{path} is not UTF-8 text (byte {exc.start})") from exc

    def toml(self, path: str) -> dict[str, Any]:
        """A TOML file's tables, within the limits that YAML has here."""
        text = self.text(path).removeprefix("\ufeff")
        if _LONG_KEY.search(text):
            raise self.refused(f"{path} has a dotted key of {MAX_DEPTH} parts")
        try:
            data = tomllib.loads(text)
        except RecursionError as exc:
            raise self.refused(f"{path} is nested too deep") from exc
        except ValueError as exc:  # TOMLDecodeError, and numbers that Python refuses
            raise self.refused(f"{path} is not valid TOML: {exc}") from exc
        self._check_size(path, data)
        return data

    def yaml(self, path: str) -> Any:
        try:
            return load_yaml(self.text(path)).data
        except YamlError as exc:
            line = f" (line {exc.line})" if exc.line else ""
            raise self.refused(f"{path} is not YAML we read: {exc.message}{line}") from exc

    def _check_size(self, path: str, data: Any) -> None:
        pending, nodes = [(data, 1)], 0
        while pending:
            value, depth = pending.pop()
            nodes += 1
            if depth > MAX_DEPTH or nodes > MAX_NODES:
                limits = f"{MAX_DEPTH} levels, {MAX_NODES:,} values"
                raise self.refused(f"{path} holds more than is read ({limits})")
            if isinstance(value, int) and abs(value) >= 10**MAX_NUMBER:
                raise self.refused(f"{path} has a number of more than {MAX_NUMBER} digits")
            if isinstance(value, dict):
                pending += [(item, depth + 1) for item in value.values()]
            elif isinstance(value, list):
                pending += [(item, depth + 1) for item in value]
