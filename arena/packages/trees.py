"""Syntax trees of hostile text: tree-sitter's parser, stopped where a text is made to hold it up.

Honest text takes about 0.1 µs a byte, text full of faults up to 4. Some texts take time by the
square of their length (`f() f() f() …`), which nothing in the grammar can be asked to prevent.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tree_sitter import Language, Node, Parser

_SMALL = 1_000
_SECONDS, _A_BYTE = 0.05, 5e-6
_FREE_CALLS = 50
_CHUNK = 4096


def parse(language: Language, text: str) -> Node | None:
    """The root of a text's tree; None where it takes far longer than a text of its length may."""
    data = text.encode("utf-8", "replace")
    if len(data) > _SMALL and not _is_soon_parsed(language, data):
        return None
    return Parser(language).parse(data).root_node


def _reader(data: bytes) -> Callable[[int, object], bytes]:
    return lambda start, _point: data[start : start + _CHUNK]


def _is_soon_parsed(language: Language, data: bytes) -> bool:
    """Whether a parse ends in time. One of bytes can't be stopped, and one of a reader knows no
    text, so what is sound is parsed twice."""
    calls = 0
    began = time.thread_time()

    def is_late(offset: int, _has_error: bool) -> bool:
        nonlocal calls
        calls += 1
        return calls > _FREE_CALLS and time.thread_time() - began > _SECONDS + offset * _A_BYTE

    try:
        Parser(language).parse(_reader(data), progress_callback=is_late)
    except ValueError:
        return False
    return True
