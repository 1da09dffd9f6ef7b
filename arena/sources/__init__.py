"""Where collections come from: an address, pinned to a commit, made a folder of text."""

from arena.sources.address import PinnedSource, Source, is_name, parse_source
from arena.sources.cache import FileCache
from arena.sources.github import GitHubSource
from arena.sources.hub import HubSource
from arena.sources.limits import RefusedSource
from arena.sources.readers import SourceReader, SourceReaders, open_sources

__all__ = [
    "FileCache",
    "GitHubSource",
    "HubSource",
    "PinnedSource",
    "RefusedSource",
    "Source",
    "SourceReader",
    "SourceReaders",
    "is_name",
    "open_sources",
    "parse_source",
]
