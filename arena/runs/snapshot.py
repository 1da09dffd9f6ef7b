"""A collection on the worker: fetched as a stranger, and the one that was validated."""

from __future__ import annotations

from pathlib import Path

from arena.errors import ArenaError
from arena.packages import Collection, check_collection
from arena.posttrain.faults import AuthorFault, PlatformFault
from arena.sources import PinnedSource, RefusedSource, SourceReader


def fetch_collection(sources: SourceReader, source: str, digest: str, folder: Path) -> Collection:
    """Writes the collection of a pinned source into `folder`, which must be empty.

    Raises:
        AuthorFault: the source holds what no collection may.
        PlatformFault: it cannot be had now, or its content has another digest.
    """
    try:
        sources.fetch(PinnedSource.parse(source), folder)
    except RefusedSource as exc:
        raise AuthorFault("collection_changed", exc.finding.message) from exc
    except ArenaError as exc:
        raise PlatformFault("snapshot_failed", f"{exc.message} {exc.next}") from exc
    collection = check_collection(folder).collection
    if collection is None or collection.digest != digest:
        raise PlatformFault(
            "collection_changed", "What the source holds is not what was validated."
        )
    return collection
