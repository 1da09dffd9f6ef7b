"""The corpus of near copies: sound packages, tasks that can be solved, the same at every run."""

from pathlib import Path

import pytest

from bench.nearcopies import originals
from tests.bench.corpus import errors, solve


def test_the_originals_are_48_sound_packages_of_16_families(tmp_path: Path) -> None:
    families = [spec.family for spec in originals.specs()]
    assert len(originals.originals()) == 48
    assert {families.count(one) for one in families} == {3}
    for name, package in originals.originals().items():
        assert errors(package, tmp_path / name) == [], name


def test_new_data_is_other_data() -> None:
    spec = originals.specs()[0]
    assert originals.build(spec, 1) == originals.build(spec, 1)
    assert originals.build(spec, 1) != originals.build(spec, 2)


@pytest.mark.parametrize("number", range(0, 48, 9))
def test_an_oracle_satisfies_its_verifier(number: int, tmp_path: Path) -> None:
    solve(originals.build(originals.specs()[number], seed=number), tmp_path)
