"""Innocent neighbours: sound packages, solved by their oracles, none of them another's copy."""

from itertools import chain
from pathlib import Path

import pytest

from bench.nearcopies import families, innocents, originals
from bench.nearcopies.originals import Package
from tests.bench.corpus import errors, solve


@pytest.fixture(scope="module")
def packages() -> dict[str, Package]:
    return dict(chain(innocents.same_data(), innocents.same_template()))


def test_there_are_2000_and_each_has_its_own_prompt_and_oracle(
    packages: dict[str, Package],
) -> None:
    assert len(packages) + len(originals.originals()) + len(originals.kit()) >= 2000
    suite = {**originals.originals(), **originals.kit(), **innocents.suite_tables()}
    for part in ("task.md", "oracle/solve.sh"):
        taken = {package[part] for package in suite.values()}
        assert not taken & {package[part] for package in packages.values()}
    assert len({package["task.md"] for package in packages.values()}) == len(packages)


@pytest.mark.parametrize("number", range(0, 2000, 190))
def test_an_innocent_is_sound_and_solved(
    number: int, packages: dict[str, Package], tmp_path: Path
) -> None:
    package = list(packages.values())[number]
    assert errors(package, tmp_path / "package") == []
    solve(package, tmp_path / "run")


@pytest.mark.parametrize("family", ["tables", "pipelines", "house", "graded"])
def test_siblings_of_a_template_are_sound_and_solved_and_other_tasks(
    family: str, tmp_path: Path
) -> None:
    drawn = families.draw(family, 2, 0)
    assert (len(drawn.suite), len(drawn.siblings)) == (2, families.SIBLINGS)
    for number, package in enumerate([*drawn.suite.values(), *list(drawn.siblings.values())[:4]]):
        assert errors(package, tmp_path / f"package{number}") == []
        solve(package, tmp_path / f"run{number}")
    for part in ("task.md", "verifier/test_outputs.py"):
        taken = {package[part] for package in drawn.suite.values()}
        assert not taken & {package[part] for package in drawn.siblings.values()}
