"""When a site that refuses to answer says that it will."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_AT_MOST = 24 * 3600.0


def in_seconds(seconds: float) -> datetime:
    """A moment from now, a little later, since sites count in whole seconds."""
    return datetime.now(UTC) + timedelta(seconds=min(max(seconds, 0), _AT_MOST) + 1)


def asked_to_wait(headers: Mapping[str, str]) -> datetime | None:
    """What `Retry-After` says, in seconds or as a date; None where it says nothing."""
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return in_seconds(float(text[:9]))
    try:
        return in_seconds((parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):  # no date, or one without a zone
        return None
