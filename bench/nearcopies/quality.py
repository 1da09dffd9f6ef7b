"""What share of near copies is found, and how many innocents are refused.

    python -m bench.nearcopies quality [--seeds 4] [--kinds WORD]

The suite is the 48 synthetic originals, the starting kit's examples and a few tasks of the template
that innocents have, too. A mutant is found where it is a copy of its own original. Detector and
thresholds may be tuned with the families of `TUNED` in view, and the figures of the others are
told apart.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

from scipy.stats import binomtest

from arena.nearcopies import METHOD, SealedIndex, compare, open_index
from bench.nearcopies import families, innocents, mutations, originals
from bench.nearcopies.originals import Package

FAMILIES = sorted({spec.family for spec in originals.specs()})
TUNED = FAMILIES[::2]
BATCH = 200

Named = tuple[str, Package]


class Suite(NamedTuple):
    """The index that judges, and its tasks' names in the index's order."""

    index: SealedIndex
    names: list[str]


def main(seeds: int, kinds: str) -> None:
    began = time.monotonic()
    print(f"Method `{METHOD}`, {seeds} seeds a kind, {platform.machine()}, {os.cpu_count()} cores,")
    print(f"Python {platform.python_version()}.\n")
    known = {**originals.originals(), **originals.kit()}
    suite = suite_of({**known, **innocents.suite_tables()})
    print("| kind | mutants | copy | suspect | clear | recall at `copy` | 95 % | held-out half |")
    print("|---|--:|--:|--:|--:|--:|---|---|")
    for kind in mutations.KINDS:
        if kinds in kind:
            print(row_of_kind(kind, known, suite, seeds), flush=True)
    if not kinds:
        print("\n| innocents | packages | copy | suspect | refused, 95 % upper bound |")
        print("|---|--:|--:|--:|--:|")
        total: Counter[str] = Counter()
        for group, verdicts in of_innocents(suite):
            total += verdicts
            print(row_of_innocents(group, verdicts), flush=True)
        print(row_of_innocents("all", total))
        print("\n| family | in the suite | siblings | copy | suspect | refused, 95 % upper bound |")
        print("|---|---|--:|--:|--:|--:|")
        for family, size in product(families.families(), families.SIZES):
            for beside, others in (("alone", {}), (f"among {len(known)}", known)):
                verdicts = of_family(family, size, others)
                print(row_of_innocents(f"{family} | {size} {beside}", verdicts), flush=True)
    print(f"{time.monotonic() - began:.0f} s in all", file=sys.stderr)


def suite_of(packages: dict[str, Package]) -> Suite:
    with tempfile.TemporaryDirectory() as made:
        roots = [originals.write(one, Path(made) / name) for name, one in packages.items()]
        return Suite(open_index(roots), list(packages))


def verdicts_of(suite: Suite, packages: Iterable[Named]) -> Iterator[tuple[str, str]]:
    """Each package's name with `copy of NAME`, `suspect` or `clear`, in order."""
    done = 0
    rest = iter(packages)
    while batch := list(islice(rest, BATCH)):
        with tempfile.TemporaryDirectory() as made:
            # the folder's name is the package's, and says nothing of its original
            folders = {f"package-{n}": name for n, (name, _) in enumerate(batch)}
            texts = zip(folders, (package for _, package in batch), strict=True)
            roots = [originals.write(package, Path(made) / root) for root, package in texts]
            found = compare(roots, [suite.index])
        said = {one.package: "suspect" for one in found.suspects}
        said |= {one.package: f"copy of {suite.names[one.likeness.task]}" for one in found.copies}
        for package, name in folders.items():
            yield name, said.get(package, "clear")
        done += len(batch)
        print(f"\r{done} packages judged ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def row_of_kind(kind: str, known: dict[str, Package], suite: Suite, seeds: int) -> str:
    """The kind's row, over mutants of the `known` originals."""
    tuned = {spec.name for spec in originals.specs() if spec.family in TUNED}
    tuned |= set(sorted(originals.kit())[::2])
    named = ((n, one) for n, o in known.items() for one in mutations.mutants(kind, n, o, seeds))
    counts: Counter[str] = Counter()
    held_out: Counter[bool] = Counter()
    for name, verdict in verdicts_of(suite, named):
        is_found = verdict == f"copy of {name}"
        counts["copy" if is_found else verdict.partition(" of ")[0] + " else"] += 1
        if name not in tuned:
            held_out[is_found] += 1
        if not is_found:
            print(f"  {kind}: {name}: {verdict}", file=sys.stderr)
    total, found = counts.total(), counts["copy"]
    interval = binomtest(found, total).proportion_ci(method="exact")
    others = f"{held_out[True]} of {held_out.total()}"
    return (
        f"| {kind} | {total} | {found} | {counts['suspect else']} | {counts['clear else']} "
        f"| {found / total:.1%} | {interval.low:.1%} – {interval.high:.1%} | {others} |"
    )


def of_innocents(suite: Suite) -> Iterator[tuple[str, Counter[str]]]:
    """The groups of innocents with their verdicts."""
    yield "other task of the family", _counted(_left_out())
    yield "other question, same data", _counted(verdicts_of(suite, innocents.same_data()))
    yield "same template", _counted(verdicts_of(suite, innocents.same_template()))


def of_family(family: str, size: int, others: dict[str, Package]) -> Counter[str]:
    """Verdicts on siblings, where `size` tasks of the family are in the suite beside `others`."""
    found: Counter[str] = Counter()
    for number in range(families.DRAWS):
        drawn = families.draw(family, size, number)
        suite = suite_of({**others, **drawn.suite})
        found += _counted(verdicts_of(suite, drawn.siblings.items()))
    return found


def _left_out() -> Iterator[tuple[str, str]]:
    """Each original, judged against a suite without it and a third of the others."""
    known = {**originals.originals(), **originals.kit()}
    names = list(known)
    for fold in range(3):
        rest = {name: known[name] for name in names if name not in names[fold::3]}
        yield from verdicts_of(suite_of(rest), ((name, known[name]) for name in names[fold::3]))


def _counted(verdicts: Iterable[tuple[str, str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, verdict in verdicts:
        counts[verdict.partition(" ")[0]] += 1
        if verdict != "clear":
            print(f"  innocent {name}: {verdict}", file=sys.stderr)
    return counts


def row_of_innocents(group: str, verdicts: Counter[str]) -> str:
    refused, total = verdicts["copy"], verdicts.total()
    bound = binomtest(refused, total, alternative="less").proportion_ci(method="exact").high
    return f"| {group} | {total} | {refused} | {verdicts['suspect']} | {bound:.2%} |"
