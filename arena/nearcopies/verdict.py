"""What a package's likeness to a task amounts to: a copy, a suspect, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import Literal, NamedTuple

from arena.nearcopies.index import SealedIndex, Shared
from arena.nearcopies.parts import PARTS, WITNESSES, PackageFeatures, Part
from arena.nearcopies.sketches import Sketch

METHOD = "fingerprints 4"
"""Which features and thresholds judged; a change of either is a new name."""

Level = Literal["copy", "suspect"]


class Threshold(NamedTuple):
    """From which share on something speaks for itself, and on how much evidence."""

    share: float
    evidence: float


# A suite may hold a single task of a template that contributors write in, too, and what is the
# template's can't be told from what is the task's. Two tasks of one template differ in a sentence
# of the prompt, and in a line of oracle and verifier, in however long a frame. So a copy must have
# nearly all of a witness, and may lack little of it.
PROMPT = Threshold(0.85, 20)
PROMPT_LACKS = 12.0
"""The weight that a prompt may lack to convict alone: about four words."""
ORACLE = Threshold(0.97, 40)
CODE = (Threshold(0.95, 60), Threshold(0.99, 45))
"""Oracle and verifier, each; the less there is of both, the more of it must be the same."""
CODE_LACKS = 15.0
"""The weight that oracle and verifier may lack to convict without the prompt: two, three lines."""
SUPPORTED = 0.9
"""Oracle and verifier, each, where the prompt has this share:"""
SUPPORT = 0.6
SMALLEST_ORACLE = 12
"""Evidence of an oracle below which the verifier would decide alone; many tasks share theirs."""
TOGETHER = 0.85
"""The mean share of the witnesses from which on a task needs no further evidence, if the prompt
lacks as little as above: of a very small task more can't be had."""

SUSPECT: dict[Part, Threshold] = {
    "prompt": Threshold(0.4, 20),
    "oracle": Threshold(0.45, 20),
    "verifier": Threshold(0.5, 30),
    "data": Threshold(0.5, 10),
}
SUSPECT_TOGETHER = 0.6

_PASSAGES = 3
_PASSAGE_CHARACTERS = 300


class Passage(NamedTuple):
    """Lines of a package that stand in a task too, after normalisation."""

    file: str
    line: int
    text: str


class Likeness(NamedTuple):
    """A package's likeness to one task.

    `part`: which witness decided; `code`: oracle and verifier, `all parts`: the mean of all.
    """

    level: Level
    task: int
    part: Part | Literal["package", "code", "all parts"]
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
    suspects = sorted(_suspects(shared), key=lambda likeness: likeness.similarity, reverse=True)
    return next(chain(_copies(shared), suspects), None)


def _copies(shared: Shared) -> Iterator[Likeness]:
    """By what a package is a copy of a task, the clearest to its author first."""
    task, share, evidence = shared.task, shared.share, shared.evidence
    if shared.lacks["prompt"] <= PROMPT_LACKS:
        if _speaks(PROMPT, share["prompt"], evidence["prompt"]):
            yield Likeness("copy", task, "prompt", share["prompt"], PROMPT.share)
        if (together := _mean(share)) >= TOGETHER:
            yield Likeness("copy", task, "all parts", together, TOGETHER)
    if evidence["oracle"] < SMALLEST_ORACLE:
        return
    least = min(share["oracle"], share["verifier"])
    if shared.lacks["oracle"] <= CODE_LACKS and _speaks(
        ORACLE, share["oracle"], evidence["oracle"]
    ):
        yield Likeness("copy", task, "oracle", share["oracle"], ORACLE.share)
    if shared.lacks["oracle"] + shared.lacks["verifier"] <= CODE_LACKS:
        both = evidence["oracle"] + evidence["verifier"]
        for threshold in CODE:
            if _speaks(threshold, least, both):
                yield Likeness("copy", task, "code", least, threshold.share)
    if least >= SUPPORTED and share["prompt"] >= SUPPORT:
        yield Likeness("copy", task, "code", least, SUPPORTED)


def _suspects(shared: Shared) -> Iterator[Likeness]:
    """By what a package is a suspect of a task."""
    for part, threshold in SUSPECT.items():
        if _speaks(threshold, shared.share[part], shared.evidence[part]):
            yield Likeness("suspect", shared.task, part, shared.share[part], threshold.share)
    if (together := _mean(shared.share)) >= SUSPECT_TOGETHER:
        yield Likeness("suspect", shared.task, "all parts", together, SUSPECT_TOGETHER)


def _mean(share: dict[Part, float]) -> float:
    return sum(share[part] for part in WITNESSES) / len(WITNESSES)


def _speaks(threshold: Threshold, share: float, evidence: float) -> bool:
    return share >= threshold.share and evidence >= threshold.evidence


def passages(index: SealedIndex, package: PackageFeatures, likeness: Likeness) -> list[Passage]:
    """The author's own lines that matched, the longest runs first; never the task's text."""
    shown: tuple[Part, ...] = ("prompt",)
    if likeness.part == "code":
        shown = ("oracle", "verifier")
    elif likeness.part in PARTS:
        shown = (likeness.part,)
    found: set[tuple[str, int]] = set()
    for part in shown:
        texts = index.common_texts(package, likeness.task, part)
        found |= {(f.file, f.line) for f in package.features[part] if f.text in texts}
    lines = sorted(found)
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
