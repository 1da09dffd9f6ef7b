"""An index of packages' features under a key: what a package shares with each of them.

Each feature stands in it as 64 bits of a keyed hash, so that who has the index and not the key
can't test a guess. Of each part of a task a sample is kept, the smallest hashes, so that a share
is the expected share of all the part's features, weighted by how rare they are.
"""

from __future__ import annotations

import hmac
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from arena.nearcopies.parts import PARTS, PackageFeatures, Part
from arena.nearcopies.sketches import Hashes, Sketch, Sketcher

VERSION = 3
SAMPLE = 200
"""Features kept of one part of one task."""
FLOOR = 0.25
"""A task is told of where a part shares at least this much."""
MOST_OFTEN = 500
"""A feature of more tasks than this carries no weight, however large the suite."""
_FULL = 200  # a weight of 1, as it is stored


class SealedIndexError(Exception):
    """An index that is unreadable, or sealed under another key."""


class IndexFacts(BaseModel):
    """What an index says of itself. `revision`: the suite's, as the challenge names it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = VERSION
    revision: str
    tasks: int


class Shared(NamedTuple):
    """What a package shares with one task.

    `share`: of each part, from 0 to 1, how much of the task's features the package has.
    `evidence`: the weight of the features that a share is a share of; a common feature weighs
    less than 1.
    """

    task: int
    is_exact: bool
    share: dict[Part, float]
    evidence: dict[Part, float]


@dataclass(frozen=True)
class _PartIndex:
    """One part of all tasks: features (n) by hash, in order, each with its tasks and weight."""

    hashes: Hashes  # (n,)
    starts: NDArray[np.uint32]  # (n + 1,), into `tasks`
    tasks: NDArray[np.uint32]
    weights: NDArray[np.uint8]  # (n,), in units of 1/_FULL
    totals: NDArray[np.float32]  # (tasks,), the weight of each task's features

    def find(self, hashes: Hashes) -> NDArray[np.intp]:
        """Where those of `hashes` stand that the index has."""
        places = np.searchsorted(self.hashes, hashes)
        places, hashes = places[places < len(self.hashes)], hashes[places < len(self.hashes)]
        found: NDArray[np.intp] = places[self.hashes[places] == hashes]
        return found

    def shares(self, hashes: Hashes) -> NDArray[np.float64]:
        """(tasks,): the share of each task's weight that is among `hashes`."""
        found = self.find(hashes)
        starts = self.starts[found].astype(np.int64)
        counts = self.starts[found + 1] - starts
        before = np.cumsum(counts) - counts
        rows = np.arange(counts.sum()) + np.repeat(starts - before, counts)
        weights = np.repeat(self.weights[found], counts)
        scores = np.bincount(self.tasks[rows], weights, minlength=len(self.totals)) / _FULL
        return np.divide(scores, self.totals, out=np.zeros_like(scores), where=self.totals > 0)

    def of_task(self, hashes: Hashes, task: int) -> list[int]:
        """Those of `hashes` that `task` has."""
        found = self.find(hashes)
        has = [i for i in found if task in self.tasks[self.starts[i] : self.starts[i + 1]]]
        return self.hashes[has].tolist() if has else []


class SealedIndex:
    """The features of a suite's tasks, or of any packages, under a key."""

    def __init__(
        self, key: bytes, facts: IndexFacts, parts: dict[Part, _PartIndex], contents: Hashes
    ) -> None:
        self.facts = facts
        self.sketch = Sketcher(key)
        self._parts = parts
        self._contents = contents

    @classmethod
    def build(
        cls,
        packages: Iterable[Sketch],
        key: bytes,
        revision: str = "",
        common: Iterable[Sketch] = (),
    ) -> SealedIndex:
        """An index of packages that were sketched under `key`.

        What stands in two of `common`, packages that anyone may start from, carries no weight.
        """
        packages, common = list(packages), list(common)
        parts = {
            part: _build(
                [sketch.parts[part] for sketch in packages],
                _in_two(sketch.parts[part] for sketch in common),
            )
            for part in PARTS
        }
        facts = IndexFacts(revision=revision, tasks=len(packages))
        return cls(key, facts, parts, np.array([s.content for s in packages], np.uint64))

    def compare(self, package: Sketch) -> list[Shared]:
        """What a package, sketched under the index's key, shares with the tasks it is like."""
        shares = np.stack([self._parts[part].shares(package.parts[part]) for part in PARTS])
        exact = self._contents == np.uint64(package.content)
        tasks = np.flatnonzero(exact | (shares.max(axis=0, initial=0) >= FLOOR))
        return [
            Shared(
                task,
                bool(exact[task]),
                dict(zip(PARTS, shares[:, task].tolist(), strict=True)),
                {part: float(self._parts[part].totals[task]) for part in PARTS},
            )
            for task in tasks.tolist()
        ]

    def common_texts(self, package: PackageFeatures, task: int, part: Part) -> set[str]:
        """The texts of the package's features of `part` that `task` has too."""
        texts = {self.sketch.hash(part, text): text for text in package.texts(part)}
        hashes = np.sort(np.fromiter(texts, np.uint64, len(texts)))
        return {texts[found] for found in self._parts[part].of_task(hashes, task)}

    def to_bytes(self) -> bytes:
        """The index as a file: an uncompressed `.npz` that its own key signs."""
        arrays = {
            f"{part}_{name}": getattr(index, name)
            for part, index in self._parts.items()
            for name in _PartIndex.__dataclass_fields__
        }
        arrays["contents"] = self._contents
        arrays["facts"] = np.frombuffer(self.facts.model_dump_json().encode(), np.uint8)
        arrays["signature"] = np.frombuffer(self.sketch.sign(arrays), np.uint8)
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, **arrays)
        return file.getvalue()

    @classmethod
    def read(cls, path: Path, key: bytes) -> SealedIndex:
        """Reads a file of what `to_bytes` gave.

        Raises:
            SealedIndexError: it cannot be read, or was sealed under another key.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            signature = arrays.pop("signature").tobytes()
            facts = IndexFacts.model_validate_json(arrays["facts"].tobytes())
        except (ValueError, KeyError, OSError, EOFError, BadZipFile) as exc:
            raise SealedIndexError("it cannot be read; seal the suite again") from exc
        if facts.version != VERSION:
            raise SealedIndexError(f"it has version {facts.version}, not {VERSION}; seal it again")
        if not hmac.compare_digest(signature, Sketcher(key).sign(arrays)):
            raise SealedIndexError("it was sealed under another key, or has been changed")
        names = _PartIndex.__dataclass_fields__
        parts = {part: _PartIndex(**{n: arrays[f"{part}_{n}"] for n in names}) for part in PARTS}
        return cls(key, facts, parts, arrays["contents"])


def _in_two(packages: Iterable[Hashes]) -> Hashes:
    """The hashes that at least two of `packages` have."""
    counted = Counter(h for hashes in packages for h in hashes.tolist())
    return np.array(sorted(h for h, count in counted.items() if count > 1), np.uint64)


def _build(tasks: Sequence[Hashes], common: Hashes) -> _PartIndex:
    often = max(8, min(len(tasks) // 20, MOST_OFTEN))
    known, counts = np.unique(np.concatenate([*tasks, common[:0]]), return_counts=True)
    weights = np.maximum(1 - np.log(counts) / np.log(often), 0)
    weights[np.isin(known, common)] = 0
    weights = np.ceil(weights * _FULL).astype(np.uint8)
    kept = [_sample(hashes, known, weights) for hashes in tasks]
    totals = [weights[np.searchsorted(known, hashes)].sum(dtype=np.int64) for hashes in kept]
    numbers = np.repeat(np.arange(len(kept), dtype=np.uint32), [len(hashes) for hashes in kept])
    every = np.concatenate([*kept, common[:0]])
    order = np.argsort(every, kind="stable")
    hashes, starts = np.unique(every[order], return_index=True)
    return _PartIndex(
        hashes=hashes,
        starts=np.append(starts, len(every)).astype(np.uint32),
        tasks=numbers[order],
        weights=weights[np.searchsorted(known, hashes)],
        totals=(np.array(totals) / _FULL).astype(np.float32),
    )


def _sample(hashes: Hashes, known: Hashes, weights: NDArray[np.uint8]) -> Hashes:
    """The smallest of a task's hashes that carry weight: hashes are as good as random."""
    return hashes[weights[np.searchsorted(known, hashes)] > 0][:SAMPLE]
