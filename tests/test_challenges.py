"""Challenge files: what is wrong is refused before anything starts, with the path of the field."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena.challenges import ChallengeFileError, Recipe, load_challenges, load_file

ROOT = Path(__file__).parents[1]
DEMO = "demo/challenge.yaml"
REMOVED = object()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "challenges", tmp_path / "challenges"))


@pytest.fixture
def problem(folder: Path) -> Callable[[str, str, Any], str]:
    """What the load says once the value at a dotted path of a file is another."""

    def load(file: str, path: str, value: Any) -> str:
        whole = yaml.safe_load((folder / file).read_text())
        *parents, last = path.split(".")
        part = whole
        for name in parents:
            part = part[name]
        if value is REMOVED:
            del part[last]
        else:
            part[last] = value
        (folder / file).write_text(yaml.safe_dump(whole))
        with pytest.raises(ChallengeFileError) as refused:
            load_challenges(folder)
        return str(refused.value)

    return load


def test_the_repositorys_own_files_load(folder: Path) -> None:
    loaded = load_challenges(folder)
    assert loaded.challenges["demo"].digest
    assert loaded.recipes["demo"].digest


@pytest.mark.parametrize("path", [*(ROOT / "challenges" / "recipes").glob("*.yaml")])
def test_every_recipe_loads_under_its_own_name(path: Path) -> None:
    assert load_file(path, Recipe).name == path.stem


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("evaluation.trials", "many"),
        ("evaluation.trials", 0),
        ("evaluation.trails", 3),
        ("evaluation.temperature", float("inf")),
        ("evaluation.temperature", float("nan")),
        ("evaluation.seed", -1),
        ("suite.repo", REMOVED),
        ("base_model.repo", "no-owner"),
        ("initial_state.state", "pausd"),
        ("initial_state.reason", ""),
        ("dates", "soon"),
        ("compute.timeout", float("inf")),
        ("compute.backend", "hf-jobs"),
        ("gates.min_tasks", 0),
        ("digest", "0" * 64),
        ("id", "other"),
    ],
)
def test_a_wrong_field_is_refused_with_its_path(
    problem: Callable[[str, str, Any], str], path: str, value: Any
) -> None:
    said = problem(DEMO, path, value)
    assert DEMO in said
    assert f"{path}: " in said


def test_dates_need_a_time_zone_and_an_order(problem: Callable[[str, str, Any], str]) -> None:
    early, late = "2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z"
    naive = {"opens": early, "closes": late.removesuffix("Z")}
    assert "dates.closes: " in problem(DEMO, "dates", naive)
    assert "dates: closes must be" in problem(DEMO, "dates", {"opens": late, "closes": early})


def test_a_suite_with_network_is_refused(problem: Callable[[str, str, Any], str]) -> None:
    assert "suite trials never have network" in problem(DEMO, "sandbox.suite.network", True)


@pytest.mark.parametrize(
    ("file", "path", "value"),
    [
        ("arena.yaml", "workers", REMOVED),
        ("arena.yaml", "workers", "arena-worker"),
        ("arena.yaml", "collection_size", {"min": 10, "max": 2}),
        ("arena.yaml", "collection_size.max", 201),
        ("recipes/demo-cpu.yaml", "sft.learning_rate", -1),
    ],
)
def test_the_arenas_file_and_recipes_are_held_to_the_same(
    problem: Callable[[str, str, Any], str], file: str, path: str, value: Any
) -> None:
    said = problem(file, path, value)
    assert file in said
    assert f"{path}: " in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"id: [\n", "line 1"),
        (b"id: demo\nid: demo\n", "line 2: the key 'id' stands twice"),
        (b"- demo\n", "not a mapping"),
        (b"id: \xff\n", "not UTF-8"),
    ],
)
def test_a_file_that_is_no_yaml_is_refused(folder: Path, content: bytes, said: str) -> None:
    (folder / DEMO).write_bytes(content)
    with pytest.raises(ChallengeFileError, match=said):
        load_challenges(folder)


def test_a_recipe_that_is_not_there_is_refused(problem: Callable[[str, str, Any], str]) -> None:
    said = problem(DEMO, "recipe.file", "recipes/none.yaml")
    assert "recipes/none.yaml: No such file" in said
