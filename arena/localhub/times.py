"""Times as the Hub writes them."""

from datetime import UTC, datetime


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
