"""Whether a package is too close to a suite task, asked without holding the suite."""

from arena.nearcopies.index import SealedIndex, SealedIndexError
from arena.nearcopies.search import (
    Comparison,
    NearCopy,
    Twins,
    compare,
    concerns,
    is_comparable,
    open_index,
    seal,
)
from arena.nearcopies.verdict import METHOD, Likeness, Passage

__all__ = [
    "METHOD",
    "Comparison",
    "Likeness",
    "NearCopy",
    "Passage",
    "SealedIndex",
    "SealedIndexError",
    "Twins",
    "compare",
    "concerns",
    "is_comparable",
    "open_index",
    "seal",
]
