"""Fields of a task's settings, each taken to its place in `task.md` by one table of rules."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from arena.packages.findings import shown

Path = tuple[str | int, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_EMAIL = re.compile(
    r"\s?[<(]?(?<![\w.+-])(?!git@)[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}[>)]?"
)


class Unfit(ValueError):
    """A value that its place in the package cannot hold; the message says why. It is kept aside."""


class Withheld(ValueError):
    """A value that must not, or cannot, be carried at all; the message says why."""


def unchanged(value: Any) -> Any:
    return value


class To(NamedTuple):
    """To a key of the front matter (empty: the same one), with its value changed."""

    path: str = ""
    note: str = ""
    change: Callable[[Any], Any] = unchanged


class Leave(NamedTuple):
    """Not carried, for this reason."""

    why: str


class Aside(NamedTuple):
    """Kept as information among the metadata."""

    note: str


class Stands(NamedTuple):
    """Its meaning stands in another place, which the conversion writes by itself."""

    place: str
    note: str = ""


class Image(NamedTuple):
    """To a line of `environment/Dockerfile`, made of the last key and the value."""

    line: Callable[[str, Any], str]
    note: str


Rule = To | Aside | Leave | Stands | Image


def fields_of(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf: a value, a list of values, an empty table. Lists with tables are gone through."""
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from fields_of(value, (*path, key))
    elif isinstance(data, list) and any(isinstance(item, dict) for item in data):
        for index, item in enumerate(data):
            yield from fields_of(item, (*path, index))
    elif path:
        yield path, data


def written(path: Path) -> str:
    """A path as a reader sees it: `steps[0].agent.timeout_sec`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            key = part if _BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False)
            text += f".{key}" if text else key
    return text


def rule_for(path: Path, rules: Mapping[str, Rule]) -> Rule | None:
    """The rule of a field: by its own name, else by the longest `above.*`, else by `*`."""
    names = ["[]" if isinstance(part, int) else written((part,)) for part in path]
    for end in range(len(names), 0, -1):
        name = ".".join(names[:end]).replace(".[]", "[]")
        for pattern in (name,) if end == len(names) else (f"{name}.*",):
            if pattern in rules:
                return rules[pattern]
    return rules.get("*")


def put(data: dict[str, Any], path: Path, value: Any) -> bool:
    """Sets a value in nested tables and lists; False where its place is taken."""
    here: Any = data
    for part, following in zip(path, (*path[1:], None), strict=True):
        empty: Any = value if following is None else [] if isinstance(following, int) else {}
        if isinstance(part, int):
            if not isinstance(here, list):
                return False
            here += [{} for _ in range(part - len(here))]
            if part == len(here):
                here.append(empty)
                here = here[part]
                continue
        elif not isinstance(here, dict):
            return False
        elif part not in here:
            here[part] = empty
            here = here[part]
            continue
        if following is None:
            return False
        here = here[part]
    return True


def without_email(value: Any) -> Any:
    """The value without e-mail addresses: what is in a package is public."""
    if isinstance(value, list):
        return [without_email(item) for item in value]
    if not isinstance(value, str) or "@" not in value:
        return value
    kept = _EMAIL.sub("", value).strip()
    if not kept and value.strip():
        raise Withheld("an e-mail address would become public")
    return kept if kept != value.strip() else value


def as_text(value: Any) -> Any:
    """Dates of TOML as text: the front matter has none."""
    if isinstance(value, list):
        return [as_text(item) for item in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value


def megabytes(value: Any) -> int:
    """A size in MiB: a number, or text such as `2G`, `512M`, `1.5 GiB`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*([KMGT])(?:i?B)?\s*", str(value), re.I)
    if not match:
        raise Unfit(f"{shown(value)} is no size")
    factor = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024 * 1024}[match[2].upper()]
    return int(float(match[1]) * factor)


def number(value: Any) -> int | float:
    """A number, also where it was written as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Unfit(f"{shown(value)} is no number")
    try:
        made = float(value)
        return int(made) if made.is_integer() else made
    except (ValueError, OverflowError) as exc:
        raise Unfit(f"{shown(value)} is no number") from exc


def text(value: Any) -> Any:
    """A text; nothing else."""
    if not isinstance(value, str):
        raise Unfit(f"{shown(value)} is no text")
    return without_email(value)


def texts(value: Any) -> list[str]:
    """A list of texts, also where one stands alone."""
    items = value if isinstance(value, list) else [value]
    return [item if isinstance(item, str) else str(item) for item in without_email(items)]


def one_of(*allowed: str) -> Callable[[Any], Any]:
    """A change that takes these words, in any case, and no other."""

    def change(value: Any) -> str:
        word = str(value).strip().lower()
        if word not in allowed:
            raise Unfit(f"{shown(value)} is none of {', '.join(allowed)}")
        return word

    return change
