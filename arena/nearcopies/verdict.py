"""What a package's likeness to a task amounts to: a copy, a suspect, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from arena.nearcopies.index import SealedIndex, Shared
from arena.nearcopies.parts import PackageFeatures, Part
from arena.nearcopies.sketches import Sketch

METHOD = "fingerprints 2"
"""Which features and thresholds judged; a change of either is a new name."""

Level = Literal["copy", "suspect"]


class Threshold(NamedTuple):
    """From which share on a part speaks for itself, and on how much evidence."""

    share: float
    evidence: float


COPY: dict[Part, Threshold] = {
    "prompt": Threshold(0.75, 20),
    "oracle": Threshold(0.7, 25),
    "verifier": Threshold(0.75, 40),
}
SUSPECT: dict[Part, Threshold] = {
    "prompt": Threshold(0.4, 20),
    "oracle": Threshold(0.45, 20),
    "verifier": Threshold(0.5, 30),
    "data": Threshold(0.5, 10),
}
WITNESSES: tuple[Part, ...] = ("prompt", "oracle", "verifier")
COPY_TOGETHER = 0.75
"""The mean share of the witnesses from which on they need no further evidence."""
SUSPECT_TOGETHER = 0.6

_PASSAGES = 3
_PASSAGE_CHARACTERS = 300


class Passage(NamedTuple):
    """Lines of a package that stand in a task too, after normalisation."""

    file: str
    line: int
    text: str


class Likeness(NamedTuple):
    """A package's likeness to one task. `part`: which witness decided; `all parts`: their mean."""

    level: Level
    task: int
    part: Part | Literal["package", "all parts"]
    similarity: float
    threshold: float


def likenesses(index: SealedIndex, package: Sketch) -> list[Likeness]:
    """The tasks of `index` that a package is a copy or a suspect of, the most alike first."""
    found = [likeness for shared in index.compare(package) if (likeness := judge(shared))]
    return sorted(found, key=_weight, reverse=True)


def _weight(likeness: Likeness) -> tuple[bool, bool, float]:
    return likeness.level == "copy", likeness.part == "package", likeness.similarity


def judge(shared: Shared) -> Likeness | None:
    """What two packages share as a verdict; None: clear."""
    if shared.is_exact:
        return Likeness("copy", shared.task, "package", 1.0, 1.0)
    together = sum(shared.share[part] for part in WITNESSES) / len(WITNESSES)
    levels: tuple[tuple[Level, dict[Part, Threshold], float], ...] = (
        ("copy", COPY, COPY_TOGETHER),
        ("suspect", SUSPECT, SUSPECT_TOGETHER),
    )
    for level, thresholds, enough in levels:
        parts = [
            Likeness(level, shared.task, part, shared.share[part], threshold.share)
            for part, threshold in thresholds.items()
            if shared.share[part] >= threshold.share and shared.evidence[part] >= threshold.evidence
        ]
        if parts:
            return max(parts, key=lambda likeness: likeness.similarity)
        if together >= enough:
            return Likeness(level, shared.task, "all parts", together, enough)
    return None


def passages(index: SealedIndex, package: PackageFeatures, likeness: Likeness) -> list[Passage]:
    """The author's own lines that matched, the longest runs first; never the task's text."""
    part = likeness.part if likeness.part in WITNESSES else "prompt"
    texts = index.common_texts(package, likeness.task, part)
    lines = sorted({(f.file, f.line) for f in package.features[part] if f.text in texts})
    runs = sorted(_runs(lines), key=len, reverse=True)[:_PASSAGES]
    return [_passage(package, run) for run in runs]


def _runs(lines: Sequence[tuple[str, int]]) -> Iterator[list[tuple[str, int]]]:
    """Lines that follow each other in one file, together."""
    for _, run in groupby(enumerate(lines), key=lambda it: (it[1][0], it[1][1] - it[0])):
        yield [line for _, line in run]


def _passage(package: PackageFeatures, run: Sequence[tuple[str, int]]) -> Passage:
    file, first = run[0]
    written = (package.root / file).read_text(encoding="utf-8", errors="replace").splitlines()
    text = "\n".join(written[first - 1 : first - 1 + len(run)]).strip()
    return Passage(file, first, text[:_PASSAGE_CHARACTERS])
