"""What programs and users wrote, with nothing in it that a terminal or a page would obey."""

from __future__ import annotations

import re

# control characters but tab and new line, marks of direction, halves of a character
_COMMANDS = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def plain(text: str) -> str:
    """The text, where what would move the cursor, colour or reorder it is spelled out."""
    return _COMMANDS.sub(lambda match: repr(match[0])[1:-1], text)
