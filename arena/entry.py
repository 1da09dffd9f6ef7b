"""When a collection may be entered: by its author, once, and within the shared limits.

A limit's window is the hour that ends now. In it count the submissions that were entered, except
those whose validation failed (the platform's fault, so refunded), and the attempts that were
refused after the Hub or GitHub was asked about their source.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict, TypeAdapter

from arena.challenges import Limits
from arena.errors import (
    AlreadySubmitted,
    ArenaError,
    ComesBack,
    LimitReached,
    NotNamed,
    NotYours,
    TooManyActive,
)
from arena.identity import Identity
from arena.keptlist import KeptList
from arena.packages import submission_settings
from arena.records import SubmissionRecord
from arena.sources import PinnedSource, SourceReader, is_name
from arena.state import State, Submission

WINDOW = timedelta(hours=1)


def require_not_entered(state: State, record: SubmissionRecord) -> None:
    """Raises AlreadySubmitted where the same commit of the same line stands or is under way."""
    for other in state.of_address(record.line):
        same = other.record.commit == record.commit
        if same and (other.is_under_way or other.stands):
            raise AlreadySubmitted(source=record.source, submission=other.record.id)


class _Attempt(BaseModel):
    model_config = ConfigDict(frozen=True)

    by: str
    at: datetime


class _Tried(Protocol):
    """A validation that enters nothing, as far as it counts."""

    @property
    def by(self) -> str: ...
    @property
    def at(self) -> datetime: ...


class Attempts:
    """What was tried and is in no record: refused submissions, validations that enter nothing.

    Refusals are kept on this machine's disk, over a restart. A restart ends the validations that
    enter nothing, which is the platform's doing, and so refunds them.
    """

    def __init__(self, file: Path, tried: Callable[[], Iterable[_Tried]]) -> None:
        """`tried`: the validations of the last hour that enter nothing, and were not refunded."""
        self._kept = KeptList(file, TypeAdapter(list[_Attempt]), "refused attempts")
        self._refused = self._kept.read()
        self._tried = tried
        self._lock = threading.Lock()

    def add_refused(self, user: str) -> None:
        """One more refusal, now."""
        now = datetime.now(UTC)
        with self._lock:
            self._refused = [a for a in self._refused if a.at > now - WINDOW]
            self._refused.append(_Attempt(by=user, at=now))
            self._kept.write(self._refused)

    def since(self, when: datetime, user: str | None) -> list[datetime]:
        """When somebody tried something since `when`: everybody, or one user."""
        with self._lock:
            attempts = [*self._refused, *self._tried()]
        return [a.at for a in attempts if a.at >= when and user in (None, a.by)]

    @contextmanager
    def counting_refusals(self, user: str) -> Iterator[None]:
        """Counts what is refused inside: asking for it has cost the shared limits of sources.

        The platform's own trouble, a site that does not answer included, is nobody's attempt.
        """
        try:
            yield
        except (ComesBack, LimitReached, TooManyActive):
            raise
        except ArenaError as exc:
            if exc.status < 500:
                self.add_refused(user)
            raise


def require_within_limits(state: State, limits: Limits, user: str, attempts: Attempts) -> None:
    """Raises LimitReached where too much was entered or tried within an hour."""
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


def require_not_too_many(state: State, limits: Limits, user: str, trying_out: int = 0) -> None:
    """Raises TooManyActive where a user has as many validations under way as an author may.

    `trying_out`: those that enter nothing.
    """
    entered = sum(s.record.by == user for s in state.under_way())
    if entered + trying_out >= limits.active_submissions:
        raise TooManyActive(user=user, count=entered + trying_out)


def authors_of(sources: SourceReader, pinned: PinnedSource) -> list[str]:
    """The `members` of the collection's submission.yaml, where its owner published it."""
    text = sources.read_small(pinned, "submission.yaml")
    members = submission_settings(text or "").get("members")
    if not isinstance(members, list):
        return []
    names = [name for name in members if isinstance(name, str) and is_name(name)]
    return names if names and sources.is_on_main(pinned) else []


def require_author(who: Identity, pinned: PinnedSource, authors: list[str]) -> None:
    """Raises NotYours where `who` neither owns the source nor is among its `authors`."""
    source = pinned.source
    named = who.user.lower() in {name.lower() for name in authors}
    if named or who.may_act_for(source.holder):
        return
    refusal = NotYours if source.holder == source.owner else NotNamed
    raise refusal(source=str(source), owner=source.owner, user=who.user)


def _refunded(submission: Submission) -> bool:
    return submission.validation is not None and submission.validation.outcome == "failed"
