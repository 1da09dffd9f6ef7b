"""Where the arena is, and the paths of its API."""

from __future__ import annotations

from urllib.parse import quote

DEFAULT_URL = "http://127.0.0.1:7860"


def address(*parts: str) -> str:
    """A path of the API: what a user typed stays one part of it, whatever it holds."""
    return "".join("/" + quote(part, safe=":").replace(".", "%2E") for part in parts)
