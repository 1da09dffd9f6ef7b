"""The metadata at the head of a README: YAML between two lines of three dashes."""

import re
from typing import Any

import yaml

from arena.localhub.repository import Repository, Snapshot

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


def parse_card(readme: str) -> dict[str, Any] | None:
    """The metadata, None without any; raises yaml.YAMLError when it cannot be read."""
    match = _FRONT_MATTER.match(readme)
    try:
        metadata = yaml.safe_load(match[1]) if match else None
    except (ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as exc:
        # PyYAML trusts an explicit tag: `!!int ""` and `!!bool x` fail deep inside it
        raise yaml.YAMLError(f"a value is not of its kind: {type(exc).__name__}") from exc
    if metadata is None:
        return None
    if not isinstance(metadata, dict):
        raise yaml.YAMLError("the metadata must be a mapping")
    return metadata


def card_data(repo: Repository, snapshot: Snapshot) -> dict[str, Any] | None:
    """What a repository's information says of its card: unreadable metadata is none."""
    entry = snapshot.entries.get("README.md")
    if entry is None or not entry.is_file:
        return None
    try:
        return parse_card(repo.read_blob(entry.oid).decode(errors="replace"))
    except yaml.YAMLError:
        return None
