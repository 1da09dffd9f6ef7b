"""The lists of users and groups in a container, which the engine itself opens.

It looks names up there before a process starts and, at some versions, while it archives files. A
pipe in such a list's place would have the engine wait for ever, with the container locked: it could
not even be removed. So whoever is about to have the engine do either looks first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

LISTS = ("/etc/passwd", "/etc/group")
# Read line by line for each owner of a file; a hundred times what a large system has.
MAX_BYTES = 1 << 20

_LINKS = 3
# The types of Go's file modes.
_FOLDER, _LINK, _PIPE = 1 << 31, 1 << 27, 1 << 25
_IRREGULAR = _FOLDER | _LINK | _PIPE | 1 << 26 | 1 << 24 | 1 << 21 | 1 << 19


def unreadable(stat: Callable[[str], Mapping[str, Any] | None]) -> str | None:
    """Which of the lists is none, in words; None where both are, or are not there.

    `stat`: what the engine says of a path of the container, None where nothing is there.
    """
    for path in LISTS:
        if why := _unreadable(stat, path):
            return f"{path} {why}"
    return None


def _unreadable(stat: Callable[[str], Mapping[str, Any] | None], path: str) -> str | None:
    for _ in range(_LINKS):
        found = stat(path)
        if found is None:
            return None
        mode = int(found["mode"])
        if not mode & _LINK:
            if mode & _IRREGULAR:
                return "is no regular file"
            return "is larger than 1 MiB" if found["size"] > MAX_BYTES else None
        path = str(found["linkTarget"])  # with every link on the way followed
    return "is a link of links"
