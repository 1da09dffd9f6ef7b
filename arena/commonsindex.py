"""Which accepted packages a new one is like: the commons' fingerprints, which are public."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import httpx
from huggingface_hub import HfApi
from huggingface_hub.errors import (
    EntryNotFoundError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from arena.errors import HubUnavailable
from arena.ledger import Ledger
from arena.nearcopies import SealedIndex
from arena.nearcopies.parts import Pool, features_of
from arena.nearcopies.sketches import Sketch, Sketcher, from_bytes, to_bytes
from arena.records import ReleaseRecord

FILE = "fingerprints.npz"
_KEY = b"the commons is public"


class Original(NamedTuple):
    """An accepted package: the line and the submission it came with, and its name."""

    line: str
    submission: str
    package: str


class AcceptedPackages(NamedTuple):
    """The accepted packages as an index, and which each of its tasks is."""

    tasks: SealedIndex
    originals: list[Original]


def fingerprints(packages: Iterable[Path]) -> bytes:
    """The file that a release carries beside its packages."""
    sketch, pool = Sketcher(_KEY), Pool()
    return to_bytes([(root.name, sketch(features_of(root, pool))) for root in packages])


class CommonsIndex:
    """The index of what is released, made again where more is."""

    def __init__(self, api: HfApi, ledger: Ledger) -> None:
        self._api = api
        self._ledger = ledger
        self._lock = threading.Lock()
        self._releases: list[str] = []
        self._made = AcceptedPackages(SealedIndex.build([], _KEY), [])

    def current(self) -> AcceptedPackages:
        """Everything released so far.

        Raises:
            HubUnavailable: what was released lately cannot be read now.
        """
        state = self._ledger.state
        releases = [run.release for run in state.runs.values() if run.release is not None]
        with self._lock:
            if self._releases != [release.id for release in releases]:
                originals: list[Original] = []
                sketches: list[Sketch] = []
                for release in releases:
                    line = state.submissions[release.submission].line
                    for name, sketch in self._read(release):
                        originals.append(Original(line, release.submission, name))
                        sketches.append(sketch)
                self._made = AcceptedPackages(SealedIndex.build(sketches, _KEY), originals)
                self._releases = [release.id for release in releases]
            return self._made

    def _read(self, release: ReleaseRecord) -> list[tuple[str, Sketch]]:
        """A release's sketches; it stays as it is at its commit, so it is asked for once."""
        try:
            path = self._api.hf_hub_download(
                release.repo,
                f"{release.folder}/{FILE}",
                repo_type="dataset",
                revision=release.commit,
            )
        except (EntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError):
            return []  # released before releases carried fingerprints, or gone since
        except (HfHubHTTPError, httpx.HTTPError, OSError) as exc:
            raise HubUnavailable(problem="the commons cannot be read") from exc
        return from_bytes(Path(path).read_bytes())
