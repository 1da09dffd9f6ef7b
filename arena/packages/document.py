"""Markdown with YAML front matter: `task.md` and `verifier.md` split into data and sections."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from arena.packages.yamltext import KeyPath, YamlError, load_yaml

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_BEGIN = "Begin the file with a line of ---, YAML, a line of ---, then the sections."
_YAML = (
    "Mend the YAML of the front matter: `key: value`, blanks to indent, no tabs, each key once, "
    "every bracket closed, and quotes around a text that holds ': ' or begins with a sign such as "
    "* & @ [ {."
)
_RESERVED = re.compile(r"^(prompt|user-persona|role:\S+|scene:\S+)$")


class DocumentError(ValueError):
    """A document that cannot be read: why, how to mend it, and the line (1-based) in the file."""

    def __init__(self, message: str, hint: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.line = line


class Document(NamedTuple):
    """A parsed document. `lines` gives the file's line of each key; sections are by heading."""

    front_matter: dict[str, Any]
    lines: dict[KeyPath, int]
    body: str
    sections: dict[str, str]
    body_line: int

    def line_of(self, path: KeyPath) -> int | None:
        """The line of a key, or of the nearest key above it that exists."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None


def parse_document(text: str) -> Document:
    """Splits `text` into front matter and reserved sections.

    Raises:
        DocumentError: no front matter, YAML that does not parse, a reserved heading twice.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        raise DocumentError("the file does not begin with front matter (a line of ---)", _BEGIN, 1)
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise DocumentError("the front matter has no closing line of ---", _BEGIN, 1)
    try:
        data, positions = load_yaml("\n".join(lines[1:end]))
    except YamlError as exc:
        line = exc.line + 1 if exc.line else 1
        raise DocumentError(exc.message, _YAML, line) from exc
    if not isinstance(data, dict):
        raise DocumentError("the front matter is not a mapping of keys to values", _YAML, 2)
    body = lines[end + 1 :]
    return Document(
        front_matter=data,
        lines={path: line + 1 for path, line in positions.items()},
        body="\n".join(body).strip(),
        sections=_sections(body, first_line=end + 2),
        body_line=end + 2,
    )


def prompt_of(document: Document) -> str:
    """The prompt: the `## prompt` section, or the whole body where no reserved heading stands."""
    if document.sections:
        return document.sections.get("prompt", "")
    return document.body


def _sections(body: list[str], first_line: int) -> dict[str, str]:
    """The reserved sections by name; headings inside code fences are text."""
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    fence: str | None = None
    for number, line in enumerate(body, first_line):
        fence = fence_after(fence, line)
        name = _heading(line) if fence is None else ""
        if _RESERVED.match(name):
            if name in sections:
                hint = (
                    f"Keep one '## {name}'; give the other another name, or put it in a code fence."
                )
                raise DocumentError(f"the heading '## {name}' stands twice", hint, number)
            current = sections[name] = []
        elif current is not None:
            current.append(line)
    return {name: "\n".join(text).strip() for name, text in sections.items()}


def reserved_lines(body: list[str]) -> list[int]:
    """The indexes of the lines that are reserved headings, in a body without any before it."""
    found: list[int] = []
    fence: str | None = None
    for index, line in enumerate(body):
        fence = fence_after(fence, line)
        if fence is None and _RESERVED.match(_heading(line)):
            found.append(index)
    return found


def _heading(line: str) -> str:
    """The name of a `##` heading, without its closing marks; empty where the line is none."""
    if not line.startswith(("## ", "##\t")):
        return ""
    return line[2:].strip().rstrip("#").rstrip().lower()


def fence_after(fence: str | None, line: str) -> str | None:
    """The code fence that is open after `line`, given the one open before it."""
    match = _FENCE.match(line)
    if not match:
        return fence
    marks, info = match[1], match[2]
    if fence is None:
        return marks
    closes = marks[0] == fence[0] and len(marks) >= len(fence) and not info.strip()
    return None if closes else fence
