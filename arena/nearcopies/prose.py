"""Prose as words that survive reformatting: no case, marks, numbers, paths or look-alikes."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from confusable_homoglyphs.confusables import confusables_data

_SPLIT = re.compile(r"\]\(|[\s|<>]+|(?<=[^\W\d])[-\u2010-\u2015](?=[^\W\d])")
_EDGES = "*_~`()[]{},.;:!?\"'#\u2018\u2019\u201c\u201d\u2026\u00b7\u2022-+\u2013\u2014=/\\"
_NAME_LIKE = re.compile(r"[/\\_@=&%$^]|\w\.\w|\d|[a-z][A-Z]")
_WORD = re.compile(r"[^\W\d_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")  # Thai, Lao, kana, Han


def plain(text: str) -> str:
    """`text` with compatibility forms, accents, invisible characters and look-alikes resolved."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKD", text)
    text = "".join(c for c in text if unicodedata.category(c) not in ("Mn", "Cf"))
    return text.translate(_look_alikes())


def words(line: str) -> list[str]:
    """The words of a line of prose; what looks like a name of a file or a variable is left out.

    Names are what a copy changes first, and what they are called says little of the task.
    """
    found: list[str] = []
    for chunk in _SPLIT.split(plain(line)):
        chunk = chunk.strip(_EDGES)
        if chunk and not _NAME_LIKE.search(chunk):
            for word in _WORD.findall(chunk.casefold()):
                found += list(word) if _UNSPACED.search(word) else [word]
    return found


@cache
def _look_alikes() -> dict[int, str]:
    """ASCII letters by the characters that look like them (Unicode Technical Standard 39)."""
    table: dict[int, str] = {}
    for character, alike in confusables_data.items():
        if len(character) == 1 and not character.isascii():
            for other in alike:
                if other["c"].isascii() and other["c"].isalpha() and len(other["c"]) == 1:
                    table.setdefault(ord(character), other["c"])
    return table
