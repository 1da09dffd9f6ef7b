"""The sealed indexes of the challenges' suites, as the Space reads them from the Hub."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

import httpx
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

from arena.challenges import Challenge, Challenges
from arena.errors import HubUnavailable, SuiteIndexUnusable
from arena.nearcopies import SealedIndex, SealedIndexError

log = logging.getLogger(__name__)

INDEX_FILE = "index.npz"
LOOK_SECONDS = 300.0


def index_repo(suite: str) -> str:
    """The dataset that holds the sealed index of a suite's dataset."""
    return f"{suite}-index"


class SuiteIndexes:
    """The sealed index of every challenge, read again where its repository has moved on."""

    def __init__(self, api: HfApi, challenges: Challenges, key: bytes) -> None:
        self._api = api
        self._challenges = challenges
        self._key = key
        self._lock = threading.Lock()
        self._parsed: dict[str, tuple[str, SealedIndex]] = {}
        self._problems: dict[str, str | None] = {}
        self._look_at = 0.0

    def all(self) -> dict[str, SealedIndex]:
        """Every challenge's index, by the challenge's id.

        Raises:
            HubUnavailable: one cannot be read now, so nothing can be called clear of it.
            SuiteIndexUnusable: one is not of this suite and key.
        """
        return {id_: self._read(found) for id_, found in self._challenges.challenges.items()}

    def problem(self, challenge: Challenge) -> str | None:
        """Why a challenge's index can't be used, as last seen; None where it can, or was not seen.

        Nothing is asked of the Hub, so that the ledger can ask it.
        """
        return self._problems.get(challenge.id)

    def look_again(self) -> None:
        """Looks at every challenge's index, now and then, so that a mended one is noticed."""
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + LOOK_SECONDS
            for challenge in self._challenges.challenges.values():
                self.look(challenge)

    def look(self, challenge: Challenge) -> None:
        """Sees again whether a challenge's index can be used."""
        try:
            self._read(challenge)
        except (HubUnavailable, SuiteIndexUnusable) as exc:
            log.warning("%s", exc.message)

    def _read(self, challenge: Challenge) -> SealedIndex:
        try:
            index = self._parse(challenge, self._fetch(challenge))
        except SealedIndexError as exc:
            self._problems[challenge.id] = str(exc)
            raise SuiteIndexUnusable(challenge=challenge.id, problem=str(exc)) from exc
        self._problems[challenge.id] = None
        return index

    def _fetch(self, challenge: Challenge) -> str:
        suite = challenge.suite
        try:
            return self._api.hf_hub_download(
                index_repo(suite.repo), INDEX_FILE, repo_type="dataset", revision=suite.revision
            )
        except (HfHubHTTPError, httpx.HTTPError, OSError) as exc:
            log.warning("the index of %s: %s", challenge.id, type(exc).__name__)
            problem = f"the sealed index of {challenge.id} cannot be read"
            raise HubUnavailable(problem=problem) from exc

    def _parse(self, challenge: Challenge, path: str) -> SealedIndex:
        with self._lock:  # the path holds the commit
            known, index = self._parsed.get(challenge.id, ("", None))
            if index is None or known != path:
                index = SealedIndex.read(Path(path), self._key)
                self._parsed[challenge.id] = (path, index)
        wanted, found = challenge.suite.revision, index.facts.revision
        if found != wanted:
            raise SealedIndexError(f"it is of the suite's revision {found}, not of {wanted}")
        return index
