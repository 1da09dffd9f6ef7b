"""Times as people write them, and as they compare."""

from datetime import UTC, datetime


def minutes(text: str) -> int:
    """Minutes since 1970 of a time with its offset from UTC, as 2025-05-14T09:00+02:00.

    Raises ValueError where the text is no time.
    """
    time = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return int(time.timestamp()) // 60
