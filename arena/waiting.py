"""When a site that refuses to answer says that it will."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from huggingface_hub.utils import (  # type: ignore[attr-defined]  # documented there
    parse_ratelimit_headers,
)

_AT_MOST = 24 * 3600.0


def in_seconds(seconds: float) -> datetime:
    """A moment from now, a little later, since sites count in whole seconds."""
    return datetime.now(UTC) + timedelta(seconds=min(max(seconds, 0), _AT_MOST) + 1)


def asked_seconds(headers: Mapping[str, str]) -> float | None:
    """The wait that `Retry-After` asks for, else the Hub's headers of limits; None where none."""
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):  # no date, or one without a zone
        limits = parse_ratelimit_headers(headers)
    return float(limits.reset_in_seconds) if limits and limits.remaining == 0 else None


def asked_to_wait(headers: Mapping[str, str]) -> datetime | None:
    """`asked_seconds` as a moment."""
    seconds = asked_seconds(headers)
    return None if seconds is None else in_seconds(seconds)
