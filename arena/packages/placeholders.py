"""What a template leaves to be filled in, told from the same words in a finished text.

A task may be about TODOs, and a prompt may show `<your name>` as a form to keep. So only what
stands where a text of one's own is due counts: a line by itself, or the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from arena.packages.document import fence_after

MARKER = "REPLACE-ME"
"""What stands in the template where the author has to write."""

MAX_LINE = 200
_ALONE = re.compile(
    r"\W*(?:(?:TODO|TBD|FIXME|XXX)\W*"
    r"|[<\[{](?:your|insert|describe|add|write)[ _-][^\n>\]}]{1,60}[>\]}]\W*"
    r"|(?:TODO\W{1,4})?(?:describe|write|insert|add|explain) (?:the|your|a) "
    r"(?:task|prompt|instructions?|rubric|criteria)(?: description)?(?: here)?\W*"
    r"|your (?:task|prompt|instructions?|criteria)(?: description)? here\W*|fill (?:me )?in\W*)",
    re.I,
)
_SAYS_HERE = re.compile(r"TODO| here\W*$|[<\[{]|TBD|FIXME|XXX|fill", re.I)
_BEGINNING = re.compile(r"[\s*_>-]*(?:(?:TODO|TBD|FIXME)\s*(?:[:(–—]|- )|lorem ipsum dolor)", re.I)
_VALUE = re.compile(
    rf".*{MARKER}.*|TODO(?:: .*)?|TBD|FIXME|XXX|(?i:change[-_ ]?me|replace[-_ ]?me|<.{{0,60}}>"
    r"|your[-_ ](?:\w+[-_ ])?(?:name|handle|user|username|id|title|description|licen[cs]e|email))"
)


def placeholder_line(text: str) -> tuple[int, str] | None:
    """The first line (1-based) of a Markdown text that is still to be written, and what it says."""
    first, front = True, text.partition("\n---")[0].count("\n") + 2 if text[:3] == "---" else 0
    has_text = any(line.strip() and not line.startswith("#") for line in text.split("\n"))
    for number, line, is_code in _lines(text):
        if MARKER in line:
            return number, line.strip()
        if is_code or not line.strip() or (line.startswith("#") and has_text):
            continue
        if _is_alone(line) or (first and _BEGINNING.match(line)):
            return number, line.strip()
        first = first and (line.startswith("#") or number <= front)
    return None


def is_placeholder(value: str) -> bool:
    """Whether a value of the metadata is one that a template has."""
    value = value.strip()[:200]
    return bool(_VALUE.fullmatch(value) or (" " in value and _is_alone(value)))


def _is_alone(line: str) -> bool:
    return len(line) <= MAX_LINE and bool(_ALONE.fullmatch(line) and _SAYS_HERE.search(line))


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each line with its number, and whether it is code: in a fence, or indented by four."""
    fence: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        before, fence = fence, fence_after(fence, line)
        yield number, line, bool(before or fence) or line.startswith(("    ", "\t"))
