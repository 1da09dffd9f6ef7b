"""The corpus of near copies: sound packages, tasks that can be solved, the same at every run."""

import subprocess
import sys
from pathlib import Path

import pytest

from arena.packages import check_package
from bench.nearcopies import originals
from bench.nearcopies.originals import Package


def errors(package: Package, root: Path) -> list[str]:
    report = check_package(originals.write(package, root))
    return [f"{one.code} {one.message}" for one in report.findings if one.severity == "error"]


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
    package = originals.build(originals.specs()[number], seed=number)
    there = {path: text.replace("/root", str(tmp_path)) for path, text in package.items()}
    moved = {path.removeprefix("environment/"): text for path, text in there.items()}
    originals.write(moved, tmp_path)
    if (tmp_path / "build.py").exists():
        subprocess.run([sys.executable, tmp_path / "build.py"], check=True)
    subprocess.run(["bash", tmp_path / "oracle/solve.sh"], check=True)
    checks: dict[str, object] = {}
    exec(moved["verifier/test_outputs.py"], checks)
    for name, check in list(checks.items()):
        if name.startswith("test_") and callable(check):
            check()
