"""A package in the making: its front matter, its files, and the account of where all came from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from arena.packages.conversion.fields import (
    Aside,
    Image,
    Leave,
    Rule,
    Stands,
    To,
    Unfit,
    Withheld,
    as_text,
    fields_of,
    put,
    rule_for,
    without_email,
    written,
)
from arena.packages.conversion.report import ConversionReport, Left, Mapped
from arena.packages.conversion.source import Source
from arena.packages.findings import shown

DOCKERFILE = "environment/Dockerfile"
_UNKNOWN = "not a field this conversion knows; kept as information"


class Draft:
    """One package being made of `source`. `bag` is where information without a home is kept."""

    def __init__(self, source: Source, report: ConversionReport, bag: str) -> None:
        self.source = source
        self.report = report
        self.bag = bag
        self.prompt = ""
        self.image_lines: list[str] = []
        self.front: dict[str, Any] = {
            "version": "1.0",
            "metadata": {},
            "agent": {},
            "verifier": {},
            "environment": {},
        }
        self._copies: dict[str, str] = {}
        self._texts: dict[str, tuple[str, bool]] = {}

    @property
    def files(self) -> set[str]:
        """The paths that the package will have."""
        return {"task.md", *self._copies, *self._texts}

    def text_of(self, path: str) -> str:
        """The text that the package will have at `path`; empty where it has none."""
        if path in self._texts:
            return self._texts[path][0]
        return self.source.text(self._copies[path]) if path in self._copies else ""

    def todo(self, text: str) -> None:
        self.report.todo.append(text)

    def mapped(self, origin: str, to: str, note: str = "") -> None:
        self.report.mapped.append(Mapped(origin, to, note))

    def left(self, what: str, why: str) -> None:
        self.report.left.append(Left(what, why))

    def copy(self, path: str, to: str, note: str = "byte for byte") -> None:
        """A file of the source, as it is, at `to`."""
        self._claim(to, path)
        self._copies[to] = path
        if to == path:
            self.report.carried.append(path)
        else:
            self.mapped(path, to, note)

    def write(self, to: str, text: str, executable: bool = False) -> None:
        """A file that the source does not have."""
        self._claim(to, "a file that the conversion writes")
        self._texts[to] = (text, executable)

    def _claim(self, to: str, by: str) -> None:
        if to in self.files:
            problem = f"{by} would stand at {to}, where another file does"
            raise self.source.refused(problem, "Rename one of the two, then convert it again.")

    def take_fields(self, file: str, data: Any, rules: Mapping[str, Rule]) -> None:
        """Takes every field of a settings file to its place, by the rules."""
        found = [(path, as_text(value)) for path, value in fields_of(data)]
        names = {written(path) for path, _ in found}
        for path, value in found:
            name = written(path)
            rule = rule_for(path, rules)
            if isinstance(rule, To) and rule.path in names - {name}:
                self.left(f"{file}: {name}", f"{rule.path} stands beside it, and counts")
            else:
                self._take(f"{file}: {name}", path, value, rule)

    def _take(self, what: str, path: tuple[str | int, ...], value: Any, rule: Rule | None) -> None:
        try:
            match rule:
                case Leave(why):
                    self.left(what, why)
                case Stands(place, note):
                    self.mapped(what, place, note)
                case Image(line, note):
                    self.image_lines.append(line(str(path[-1]), value))
                    self.mapped(what, f"{DOCKERFILE}: {self.image_lines[-1]}", note)
                case To(to, note, change):
                    target = tuple(to.split(".")) if to else path
                    self._put(what, target, value, change(value), note, to == "")
                case Aside(note):
                    self._keep(what, path, value, note)
                case None if value in ({}, []):
                    self.left(what, "it is empty")
                case None:
                    self._keep(what, path, value, _UNKNOWN)
        except Unfit as exc:
            self._keep(what, path, value, str(exc))
        except Withheld as exc:
            self.left(what, str(exc))

    def _put(
        self,
        what: str,
        target: tuple[str | int, ...],
        value: Any,
        new: Any,
        note: str,
        same_place: bool,
    ) -> None:
        if not put(self.front, target, new):
            self.left(what, f"its place in task.md, {written(target)}, is taken")
        elif same_place and new == value and not note:
            self.report.carried.append(what)
        else:
            notes = [note for note in (_became(value, new), note) if note]
            self.mapped(what, f"task.md: {written(target)}", "; ".join(notes))

    def _keep(self, what: str, path: tuple[str | int, ...], value: Any, note: str) -> None:
        inner = path[1:] if path[0] == "metadata" else path
        target = ("metadata", self.bag, *inner)
        self._put(what, target, value, without_email(value), note, same_place=False)

    def save(self, folder: Path) -> None:
        """Writes the package into an empty folder."""
        self._texts["task.md"] = (self._task(), False)
        for to, path in self._copies.items():
            # Harbor and Terminal-Bench start these by a shell; here the first line starts them
            script = to in {"verifier/test.sh", "oracle/solve.sh"}
            executable = self.source.files[path].executable or script
            _write(folder / to, self.source.data(path), executable)
        for to, (text, executable) in self._texts.items():
            _write(folder / to, text.encode("utf-8"), executable)

    def _task(self) -> str:
        front = {key: value for key, value in self.front.items() if value or key in _REQUIRED}
        head = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=90)
        return f"---\n{head}---\n\n## prompt\n\n{self.prompt}\n"


def _became(value: Any, new: Any) -> str:
    """What happened to a value on its way; an address that was taken out is not repeated."""
    if new == value:
        return ""
    taken_out = "@" in str(value) and "@" not in str(new)
    return "e-mail addresses taken out" if taken_out else f"{shown(value)} became {shown(new)}"


_REQUIRED = frozenset({"version", "metadata", "agent", "verifier", "environment"})


def _write(path: Path, content: bytes, executable: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755 if executable else 0o644)
