"""Near copies in a collection: of a suite's tasks, and of each other."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from arena.nearcopies.index import SealedIndex
from arena.nearcopies.parts import WITNESSES, PackageFeatures, Pool, features_of
from arena.nearcopies.sketches import Sketch, Sketcher
from arena.nearcopies.verdict import Likeness, Passage, likenesses, passages
from arena.packages.layout import package_folders

STARTING_KIT = Path(__file__).resolve().parents[2] / "starting-kit"
MANY_SUSPECTS = 0.25
"""Share of a collection's packages from which on the collection is suspect as a whole."""
MOST_TOLD = 5
"""Tasks of one suite that a package is told to be a suspect of, the most alike first."""


class NearCopy(NamedTuple):
    """A package that is too like a task, and the lines of its own that show it.

    `source`: in which of the indexes the task is.
    """

    package: str
    source: int
    likeness: Likeness
    passages: list[Passage]


class Twins(NamedTuple):
    """Two packages of one collection that are near copies of each other."""

    package: str
    other: str
    likeness: Likeness


@dataclass
class Comparison:
    """What a collection is too like.

    `copies`, `suspects`: of held-out tasks. `borrowed`: packages with the accepted ones that they
    are copies of. `cut`: its packages with more text than is compared. `compared`: bytes that were.
    """

    copies: list[NearCopy] = field(default_factory=list)
    suspects: list[NearCopy] = field(default_factory=list)
    borrowed: list[tuple[str, Likeness]] = field(default_factory=list)
    twins: list[Twins] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    compared: int = field(default=0, compare=False)


def compare(
    roots: Iterable[Path],
    indexes: Sequence[SealedIndex],
    accepted: SealedIndex | None = None,
) -> Comparison:
    """Compares a collection's packages with the held-out tasks of `indexes`, with the `accepted`

    packages, and with each other. One package's text is held at a time.
    """
    found = Comparison()
    own = Sketcher(key := secrets.token_bytes(32))
    pool = Pool()
    names: list[str] = []
    sketches: list[Sketch] = []
    for root in roots:
        package = features_of(root, pool)
        found.compared += package.compared
        names.append(package.name)
        sketches.append(own(package))
        for number, index in enumerate(indexes):
            _compare(found, package, number, index)
        if accepted is not None:
            alike = likenesses(accepted, accepted.sketch(package))
            found.borrowed += [(package.name, it) for it in alike if it.level == "copy"]
        if package.cut:
            found.cut.append(package.name)
    found.twins = _twins(names, sketches, SealedIndex.build(sketches, key))
    return found


def _compare(found: Comparison, package: PackageFeatures, number: int, index: SealedIndex) -> None:
    alike = likenesses(index, index.sketch(package))
    is_copy = bool(alike) and alike[0].level == "copy"
    # which tasks a copy resembles, too, says nothing more
    told = alike[: 1 if is_copy else MOST_TOLD]
    kind = found.copies if is_copy else found.suspects
    for likeness in told:
        shown = passages(index, package, likeness)
        kind.append(NearCopy(package.name, number, likeness, shown))


def _twins(names: Sequence[str], sketches: Sequence[Sketch], index: SealedIndex) -> list[Twins]:
    """Each package that is a copy of an earlier one, with the one that it is most like."""
    found = []
    for number, sketch in enumerate(sketches):
        earlier = [
            it for it in likenesses(index, sketch) if it.level == "copy" and it.task < number
        ]
        if earlier:
            found.append(Twins(names[number], names[earlier[0].task], earlier[0]))
    return found


def concerns(suspects: Sequence[NearCopy], packages: int) -> list[str]:
    """Why a collection with these suspects is for the editors' eye, as a whole."""
    tasks = Counter((suspect.source, suspect.likeness.task) for suspect in suspects)
    suspected = len({suspect.package for suspect in suspects})
    found = [
        f"{count} packages are suspects of one and the same held-out task"
        for count in tasks.values()
        if count > 1
    ]
    if suspected > 1 and suspected >= MANY_SUSPECTS * packages:
        found.append(f"{suspected} of {packages} packages are suspects")
    return found


def seal(roots: Iterable[Path], key: bytes, revision: str) -> SealedIndex:
    """The index of a suite's packages, in an order that says nothing of which is which."""
    sketch = Sketcher(key)
    sketches = sorted(_sketches(sketch, roots), key=lambda it: it.content)
    return SealedIndex.build(sketches, key, revision, _sketches(sketch, _starting_kit()))


def open_index(roots: Iterable[Path]) -> SealedIndex:
    """An index for who has the packages: its tasks are numbered as `roots` are."""
    sketch = Sketcher(key := secrets.token_bytes(32))
    common = _sketches(sketch, _starting_kit())
    return SealedIndex.build(_sketches(sketch, roots), key, "", common)


def is_comparable(root: Path) -> bool:
    """Whether a package has anything by which its copies could be known, other than its digest."""
    package = features_of(root)
    return any(package.features[part] for part in WITNESSES)


def _sketches(sketch: Sketcher, roots: Iterable[Path]) -> list[Sketch]:
    return [sketch(features_of(root)) for root in roots]


def _starting_kit() -> list[Path]:
    """What authors start from: what two of these packages share carries no weight."""
    examples = STARTING_KIT / "examples"
    found = package_folders(examples) if examples.is_dir() else []
    return [*found, *(path for path in [STARTING_KIT / "template"] if path.is_dir())]
