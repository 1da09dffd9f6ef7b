"""The rule book's entries: what each rule wants, why, and a bad and a good example."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict

from arena.packages.findings import RULES_VERSION, Severity
from arena.packages.rules import RULES


class Entry(BaseModel):
    """One entry. With `file` the examples are that file, or what stands in it for `replaces`.

    `without` is taken out of task.md first, so that the example shows what it is about.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    why: str
    file: str | None = None
    replaces: str | None = None
    without: str | None = None
    bad: str
    good: str


class Described(BaseModel):
    """A rule with its entry, as it is printed."""

    code: str
    severity: Severity
    part: str
    entry: Entry


@lru_cache(1)
def rule_book() -> tuple[Described, ...]:
    """Every rule in order of its code."""
    entries = _entries()
    described = [Described(code="TP000", severity="warning", part="files", entry=entries["TP000"])]
    for rule in RULES:
        entry = entries[rule.code]
        described.append(
            Described(code=rule.code, severity=rule.severity, part=rule.part, entry=entry)
        )
    return tuple(described)


def as_markdown() -> str:
    """The whole book as the page `docs/spec/rules.md`."""
    book = rule_book()
    lines = [
        "# The rule book",
        "",
        "<!-- Written by `python -m arena.packages.rules.book`; edit arena/packages/rules/. -->",
        "",
        f"Version {RULES_VERSION}, {len(book)} rules. The site, `arena check` and "
        "`scripts/check_task.py` use the same ones. An error is refused, a warning is worth "
        "mending. A code never changes its meaning. `arena rules CODE` prints one.",
        "",
        "| code | severity | part | rule |",
        "|---|---|---|---|",
        *(
            f"| [{r.code}](#{r.code.lower()}) | {r.severity} | {r.part} | {r.entry.title} |"
            for r in book
        ),
    ]
    for rule in book:
        lines += ["", f"## {rule.code}", "", f"**{rule.entry.title}** ({rule.severity})", ""]
        lines += [rule.entry.why, "", *_example("Bad", rule.entry, rule.entry.bad)]
        lines += ["", *_example("Good", rule.entry, rule.entry.good)]
    return "\n".join(lines) + "\n"


def _example(word: str, entry: Entry, text: str) -> list[str]:
    where = f", in `{entry.file}`" if entry.file else ""
    if not text:
        return [f"{word}{where}: nothing there."]
    shown = text.replace("\r", "␍").rstrip("\n")
    return [f"{word}{where}:", "", *(f"    {line}".rstrip() for line in shown.split("\n"))]


def _entries() -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for file in files("arena.packages.rules").joinpath("entries").iterdir():
        if file.name.endswith(".yaml"):
            for code, entry in yaml.safe_load(file.read_text(encoding="utf-8")).items():
                found[code] = Entry.model_validate(entry)
    return found


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_markdown())
