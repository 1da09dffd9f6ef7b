"""From accepted to released: the commons gets every accepted collection, and the ledger a record.

What was accepted before its author withdrew it is released all the same: acceptance is what the
author consented to, and the commons says that it is withdrawn.
"""

from __future__ import annotations

import logging

import httpx
from huggingface_hub.errors import HfHubHTTPError

from arena.commons import Commons
from arena.errors import ArenaError
from arena.ledger import Ledger
from arena.records import ReleaseRecord, new_id
from arena.state import Run, Submission

log = logging.getLogger(__name__)


class Releases:
    """Commits to the commons what is accepted and not released yet."""

    def __init__(self, ledger: Ledger, commons: Commons) -> None:
        self._ledger = ledger
        self._commons = commons

    def release_accepted(self) -> None:
        """Releases; one that cannot be now, its source gone perhaps, holds up no other."""
        state = self._ledger.state
        for run in list(state.runs.values()):
            if run.state != "accepted" or run.release is not None:
                continue
            try:
                self._release(run, state.submissions[run.record.submission])
            except (ArenaError, HfHubHTTPError, httpx.HTTPError, ValueError) as exc:
                log.warning("%s is not released: %s", run.record.id, type(exc).__name__)

    def _release(self, run: Run, submission: Submission) -> None:
        assert submission.validation is not None
        released = self._commons.release(run, submission)
        record = ReleaseRecord(
            id=new_id(ReleaseRecord.prefix),
            by="arena",
            run=run.record.id,
            submission=submission.record.id,
            collection=run.record.collection,
            repo=released.repo,
            commit=released.commit,
            folder=released.folder,
            packages=submission.validation.packages,
        )
        self._ledger.transact(
            lambda state: [record] if state.runs[run.record.id].release is None else []
        )
