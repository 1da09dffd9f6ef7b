"""Near copies: other packages than their originals, sound, and still to be solved."""

import random
from pathlib import Path

import pytest

from bench.nearcopies import mutations, originals
from tests.bench.corpus import errors, solve


def mutant(kind: str, name: str) -> originals.Package:
    known = {**originals.originals(), **originals.kit()}
    return mutations.KINDS[kind](known[name], random.Random(f"{kind} {name}"))


@pytest.mark.parametrize("kind", mutations.KINDS)
def test_mutants_are_sound_packages_of_their_own(kind: str, tmp_path: Path) -> None:
    known = {**originals.originals(), **originals.kit()}
    assert len(mutations.KINDS) >= 12
    for name in ["ini-to-typed-json", "log-rotation-rewrite", "ssh-attack-triage"]:
        changed = mutant(kind, name)
        assert (changed == known[name]) is (kind == "exact")
        assert changed == mutant(kind, name)
        assert errors(changed, tmp_path / name) == [], name


@pytest.mark.parametrize("kind", mutations.KINDS)
def test_a_mutant_can_be_solved(kind: str, tmp_path: Path) -> None:
    names = list(originals.originals())
    for number, name in enumerate(names[len(kind) % 5 :: 24]):
        solve(mutant(kind, name), tmp_path / str(number))


def test_every_synthetic_original_was_reworded_by_hand() -> None:
    assert all(map(mutations.rewordable, originals.originals()))
