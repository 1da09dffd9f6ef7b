"""One way to read a repository, whichever site it stands at."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from arena.settings import GitHubSettings
from arena.sources.address import PinnedSource, Scheme, Source
from arena.sources.cache import FileCache
from arena.sources.github import GitHubSource
from arena.sources.hub import HubSource


class SourceReader(Protocol):
    """Reads public repositories.

    Every method raises ComesBack where the site does not answer now, and SourceNotFound,
    SourceMoved, SourceDisabled, SourceGated or RevisionNotFound where there is nothing to read.
    """

    def resolve(self, source: Source) -> PinnedSource:
        """The commit that the source's revision means now."""

    def read_small(self, pinned: PinnedSource, name: str) -> str | None:
        """One small text file of the collection's folder; None where it is not there."""

    def is_on_main(self, pinned: PinnedSource) -> bool:
        """Whether the repository's owner let the commit in: a proposal is nobody's word."""

    def fetch(self, pinned: PinnedSource, destination: Path) -> None:
        """Writes the collection's files below `destination`, which must be empty.

        Raises:
            RefusedSource: unsafe paths, or more than a collection may have.
            SubpathNotFound: there is no such folder.
        """


class SourceReaders:
    """The reader of each scheme, as one."""

    def __init__(self, readers: Mapping[Scheme, SourceReader]) -> None:
        self._readers = readers

    def resolve(self, source: Source) -> PinnedSource:
        return self._readers[source.scheme].resolve(source)

    def read_small(self, pinned: PinnedSource, name: str) -> str | None:
        return self._readers[pinned.source.scheme].read_small(pinned, name)

    def is_on_main(self, pinned: PinnedSource) -> bool:
        return self._readers[pinned.source.scheme].is_on_main(pinned)

    def fetch(self, pinned: PinnedSource, destination: Path) -> None:
        self._readers[pinned.source.scheme].fetch(pinned, destination)


def open_sources(
    hub_endpoint: str, github: GitHubSettings, cache: Path, parts: Path | None = None
) -> SourceReaders:
    """The readers of all sites, over one cache.

    `parts`: where a file of the cache is while it is not whole, on the same disk.
    """
    files = FileCache(cache, parts)
    return SourceReaders(
        {
            "hf": HubSource(hub_endpoint, files),
            "github": GitHubSource(github.endpoint, files, github.token),
        }
    )
