"""Where collections come from: an address, pinned to a commit, made a folder of text."""

from arena.sources.address import Source, is_name, parse_source
from arena.sources.hub import HubSource, PinnedSource, RefusedSource

__all__ = ["HubSource", "PinnedSource", "RefusedSource", "Source", "is_name", "parse_source"]
