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

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from arena.nearcopies.parts import PARTS, WITNESSES, PackageFeatures, Part
from arena.nearcopies.sketches import Hashes, Sketch, Sketcher, read_arrays

VERSION = 5
SAMPLE = 200
"""Features kept of one part of one task."""
FLOOR = 0.25
"""A task is told of where a part shares at least this much."""
MOST_OFTEN = 500
"""A feature of more tasks than this carries no weight, however large the suite."""
SAME_PROMPT = 0.7
"""The share of two prompts' features that both have, from which on they are variants of one."""
SAME_SAMPLE = 1_000
"""Features by which two prompts are compared for that."""
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
    less than 1. `lacks`: the weight of the task's features that the package has not, estimated
    where the task is longer than its sample.
    """

    task: int
    is_exact: bool
    share: dict[Part, float]
    evidence: dict[Part, float]
    lacks: dict[Part, float]


@dataclass(frozen=True)
class _PartIndex:
    """One part of all tasks: features (n) by hash, in order, each with its tasks and weight."""

    hashes: Hashes  # (n,)
    starts: NDArray[np.uint32]  # (n + 1,), into `tasks`
    tasks: NDArray[np.uint32]
    weights: NDArray[np.uint8]  # (n,), in units of 1/_FULL
    totals: NDArray[np.float32]  # (tasks,), the weight of each task's features in the index
    sizes: NDArray[np.float32]  # (tasks,), and of all its features

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
        kinds = _kinds(packages)
        parts = {
            part: _build(
                [sketch.parts[part] for sketch in packages],
                kinds,
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
                {
                    part: float((1 - shares[number, task]) * self._parts[part].sizes[task])
                    for number, part in enumerate(PARTS)
                },
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
            arrays = read_arrays(path)
            signature = arrays.pop("signature").tobytes()
            facts = IndexFacts.model_validate_json(arrays["facts"].tobytes())
        except (ValueError, KeyError) as exc:
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


def _kinds(packages: Sequence[Sketch]) -> list[int]:
    """The same number for tasks that differ in little more than names, so that they count as one.

    Else what a suite has in ten variants would be taken for boilerplate, and copies of it be clear.
    The least hash of each witness is the same as often as the witnesses are alike, so only those
    that share it are compared. A task that lacks a witness is of its own kind.
    """
    first: dict[tuple[int, ...], list[int]] = {}
    kinds: list[int] = []
    for number, package in enumerate(packages):
        witnesses = [package.parts[part] for part in WITNESSES]
        complete = all(len(hashes) for hashes in witnesses)
        least = tuple(int(hashes[0]) for hashes in witnesses) if complete else (number,)
        near = first.setdefault(least, [])
        found = next((other for other in near if _is_variant(package, packages[other])), number)
        if found == number:
            near.append(number)
        kinds.append(found)
    return kinds


def _is_variant(package: Sketch, other: Sketch) -> bool:
    """Whether the prompts are the same but for few words: shared programs alone are a template.

    The least of their features, as good as random, stand for all of a long prompt.
    """
    own, its = package.parts["prompt"], other.parts["prompt"]
    ends = [hashes[SAME_SAMPLE] for hashes in (own, its) if len(hashes) > SAME_SAMPLE]
    if ends:
        own, its = own[own < min(ends)], its[its < min(ends)]
    shared = len(np.intersect1d(own, its, assume_unique=True))
    return shared >= SAME_PROMPT * (len(own) + len(its) - shared)


def _of_kinds(tasks: Sequence[Hashes], kinds: Sequence[int]) -> list[Hashes]:
    """The hashes of each kind of tasks."""
    members: dict[int, list[Hashes]] = {}
    for kind, hashes in zip(kinds, tasks, strict=True):
        members.setdefault(kind, []).append(hashes)
    return [np.unique(np.concatenate(m)) if len(m) > 1 else m[0] for m in members.values()]


def _build(tasks: Sequence[Hashes], kinds: Sequence[int], common: Hashes) -> _PartIndex:
    counted = _of_kinds(tasks, kinds)
    often = max(8, min(len(counted) // 20, MOST_OFTEN))
    known, counts = np.unique(np.concatenate([*counted, common[:0]]), return_counts=True)
    weights = np.maximum(1 - np.log(counts) / np.log(often), 0)
    weights[np.isin(known, common)] = 0
    weights = np.ceil(weights * _FULL).astype(np.uint8)
    weighed = [weights[np.searchsorted(known, hashes)] for hashes in tasks]
    # hashes are as good as random, so that the smallest of those with weight are a sample
    places = [np.flatnonzero(its)[:SAMPLE] for its in weighed]
    kept = [hashes[place] for hashes, place in zip(tasks, places, strict=True)]
    totals = [its[place].sum(dtype=np.int64) for its, place in zip(weighed, places, strict=True)]
    sizes = [its.sum(dtype=np.int64) for its in weighed]
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
        sizes=(np.array(sizes) / _FULL).astype(np.float32),
    )
