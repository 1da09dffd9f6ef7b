"""When a collection may be entered: once, and within the shared limits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from arena.challenges import Limits
from arena.errors import AlreadySubmitted, LimitReached, TooManyActive
from arena.records import SubmissionRecord
from arena.state import State


def require_not_entered(state: State, record: SubmissionRecord) -> None:
    """Raises AlreadySubmitted where the same commit of the same line is valid or under way."""
    for other in state.submissions.values():
        same = other.record.line == record.line and other.record.commit == record.commit
        if same and (other.validation is None or other.is_valid):
            raise AlreadySubmitted(source=record.source, submission=other.record.id)


def require_within_limits(state: State, limits: Limits, user: str) -> None:
    """Raises LimitReached or TooManyActive where too much was entered; attempts count."""
    since = datetime.now(UTC) - timedelta(hours=1)
    for limit, count, entered in (
        ("An author validates", limits.validations_per_author_per_hour, (since, user)),
        ("All authors together validate", limits.validations_per_hour, (since, None)),
    ):
        recent = state.entered_since(*entered)
        if len(recent) >= count:
            until = recent[0].record.at + timedelta(hours=1)
            raise LimitReached(
                limit=limit,
                count=count,
                window="an hour",
                used=len(recent),
                until=f"{until:%H:%M:%S}",
            )
    active = [s for s in state.entered_since(since, user) if s.validation is None]
    if len(active) >= limits.active_submissions:
        raise TooManyActive(user=user, count=len(active))
