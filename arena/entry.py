"""When a collection may be entered: once, and within the shared limits.

A limit's window is the hour that ends now. In it count the submissions that were entered, except
those whose validation failed (the platform's fault, so refunded), and the attempts that were
refused after the Hub was asked about their source.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from arena.challenges import Limits
from arena.errors import AlreadySubmitted, ArenaError, LimitReached, TooManyActive
from arena.records import SubmissionRecord
from arena.state import State, Submission

WINDOW = timedelta(hours=1)


class Attempts:
    """Refused attempts of the last hour. In memory: a new process begins with none."""

    def __init__(self) -> None:
        self._refused: deque[tuple[datetime, str]] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def counted(self, user: str) -> Iterator[None]:
        """Counts what is refused within, unless the fault is the platform's."""
        try:
            yield
        except ArenaError as exc:
            if exc.status < 500 and not isinstance(exc, (LimitReached, TooManyActive)):
                with self._lock:
                    self._refused.append((datetime.now(UTC), user))
            raise

    def since(self, when: datetime, user: str | None) -> list[datetime]:
        """When attempts were refused since `when`, of everybody or of one user."""
        with self._lock:
            while self._refused and self._refused[0][0] < datetime.now(UTC) - WINDOW:
                self._refused.popleft()
            return [at for at, by in self._refused if at >= when and user in (None, by)]


def require_not_entered(state: State, record: SubmissionRecord) -> None:
    """Raises AlreadySubmitted where the same commit of the same line stands or is under way."""
    for other in state.submissions.values():
        same = other.record.line == record.line and other.record.commit == record.commit
        if same and (other.is_under_way or other.stands):
            raise AlreadySubmitted(source=record.source, submission=other.record.id)


def require_within_limits(state: State, limits: Limits, attempts: Attempts, user: str) -> None:
    """Raises LimitReached or TooManyActive where too much was entered or tried."""
    since = datetime.now(UTC) - WINDOW
    for limit, count, whose in (
        ("An author validates", limits.validations_per_author_per_hour, user),
        ("All authors together validate", limits.validations_per_hour, None),
    ):
        entered = [s.record.at for s in state.entered_since(since, whose) if not _refunded(s)]
        used = sorted(entered + attempts.since(since, whose))
        if len(used) >= count:
            until = used[len(used) - count] + WINDOW
            raise LimitReached(
                limit=limit, count=count, used=len(used), until=f"{until:%Y-%m-%d %H:%M:%S}"
            )
    active = [s for s in state.submissions.values() if s.is_under_way and s.record.by == user]
    if len(active) >= limits.active_submissions:
        raise TooManyActive(user=user, count=len(active))


def _refunded(submission: Submission) -> bool:
    return submission.validation is not None and submission.validation.outcome == "failed"
