"""Licences: SPDX expressions, and whether they let the arena release what is accepted."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from license_expression import Licensing, get_spdx_licensing

_RESERVED = frozenset(
    {"all-rights-reserved", "proprietary", "unlicensed", "none", "nolicense", "commercial",
     "confidential"}
)  # fmt: skip
_REFERENCE = re.compile(r"(?:documentref-[\w.-]+:)?licenseref-[\w.-]+")


_HUB_WORDS = {"odc-by": "ODC-By-1.0", "odbl": "ODbL-1.0", "pddl": "PDDL-1.0"}
"""Words of the Hub's dataset cards that mean one licence; the rest of them are SPDX ids."""


class LicenceError(ValueError):
    """A licence that can't be accepted; `forbids` tells the two kinds apart."""

    def __init__(self, message: str, forbids: bool) -> None:
        super().__init__(message)
        self.message = message
        self.forbids = forbids


@lru_cache(1024)
def check_licence(text: str) -> str:
    """The licence's normal SPDX form.

    Raises:
        LicenceError: no SPDX expression, or one that forbids what a release does.
    """
    words = text.strip().lower().replace(" ", "-").replace("_", "-")
    text = _HUB_WORDS.get(words, text)
    if words in _RESERVED or _REFERENCE.fullmatch(text.strip().lower()):
        message = f"{text!r} gives nobody the right to redistribute, or none that can be looked up"
        raise LicenceError(message, forbids=True)
    try:
        parsed = _parsed(text)
    except Exception as exc:  # the parser has faults of its own on hostile text
        raise LicenceError(f"{text!r} is no SPDX licence", forbids=False) from exc
    if parsed is None or not _may_be_released(parsed):
        message = f"{text!r} leaves no licence under which changed copies may be passed on"
        raise LicenceError(message, forbids=True)
    return str(parsed)


def _parsed(text: str) -> Any:
    """The expression; references to licences of one's own may stand in it, other words may not."""
    parsed = _spdx().parse(text, validate=False, strict=True)
    unknown = _spdx().unknown_license_keys(parsed)
    if unknown and all(_REFERENCE.fullmatch(key.lower()) for key in unknown):
        return parsed
    return _spdx().parse(text, validate=True, strict=True)


def _may_be_released(parsed: Any) -> bool:
    """Of alternatives one must allow it, of what counts together each."""
    operator = getattr(parsed, "operator", "").strip().upper()
    if operator in {"AND", "OR"}:
        allowed = [_may_be_released(part) for part in parsed.args]
        return all(allowed) if operator == "AND" else any(allowed)
    key = str(parsed).lower()
    return not _REFERENCE.fullmatch(key) and "-nd-" not in key and not key.endswith("-nd")


@lru_cache(1)
def _spdx() -> Licensing:
    return get_spdx_licensing()
