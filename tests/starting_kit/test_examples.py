"""The worked examples: each is checked, reproducible, solved by its oracle and by nothing less."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.packages import Domain, TaskPackage, check_collection, check_package, load_package
from arena.sandbox import Agent, Sandbox, Session, TrialResult, oracle, untouched
from tests.starting_kit.kit import (
    EXAMPLES,
    KIT,
    NAMES,
    TEMPLATE,
    WRONG,
    contents,
    generate,
    generator,
    wrong_solutions,
)

OTHER_SEED = 20_250_514

each_example = pytest.mark.parametrize("name", NAMES)


class Trial(NamedTuple):
    """One attempt at an example, and what it is to show."""

    name: str
    what: str
    package: TaskPackage
    agent: Agent


Results = dict[tuple[str, str], TrialResult]


def mistaken(script: str) -> Agent:
    """Runs a wrong solution. It finds the oracle in /oracle, to be solved with one mistake in it."""

    def act(session: Session) -> None:
        session.bring_folder(session.package.root / "oracle", "/oracle", also="/solution")
        session.run(script)

    return act


def reseeded(name: str, folder: Path) -> TaskPackage:
    """A copy of an example whose seed data, the verifier's copies too, come from another seed."""
    root = folder / name
    shutil.copytree(EXAMPLES / name, root)
    for path, content in generate(name, folder / "generated" / name, OTHER_SEED).items():
        (root / "environment" / "data" / path).write_bytes(content)
        if (root / "verifier" / path).exists():
            (root / "verifier" / path).write_bytes(content)
    return load_package(root)


@pytest.fixture(scope="module")
def results(python_engine: str, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Every trial of every example, in parallel."""
    folder = tmp_path_factory.mktemp("reseeded")
    trials = []
    for name in NAMES:
        package = load_package(EXAMPLES / name)
        trials.append(Trial(name, "oracle", package, oracle()))
        trials.append(Trial(name, "untouched", package, untouched()))
        trials.append(Trial(name, "other seed", reseeded(name, folder), oracle()))
        for what, script in wrong_solutions(name).items():
            trials.append(Trial(name, what, package, mistaken(script)))
    with Sandbox(python_engine) as sandbox:
        ended = sandbox.map(lambda trial: sandbox.trial(trial.package, trial.agent), trials)
    return {(trial.name, trial.what): result for trial, result in zip(trials, ended, strict=True)}


def test_the_examples_are_a_collection_of_all_domains() -> None:
    report = check_collection(EXAMPLES)
    assert report.findings == []
    assert report.collection is not None
    domains = sorted(package.domain for package in report.collection.packages)
    assert domains == sorted(Domain)
    assert [package.name for package in report.collection.packages] == NAMES


@each_example
def test_the_check_finds_nothing(name: str) -> None:
    report = check_package(EXAMPLES / name)
    assert report.findings == []
    assert report.package is not None
    assert not report.package.allow_internet
    assert report.package.memory_mb <= 512


@each_example
def test_the_generator_writes_the_seed_data(name: str, tmp_path: Path) -> None:
    first = generate(name, tmp_path / "first")
    assert first == generate(name, tmp_path / "second")
    seed_data = contents(EXAMPLES / name / "environment" / "data")
    assert {path: seed_data.get(path) for path in first} == first
    assert sum(map(len, seed_data.values())) < 200_000


@each_example
def test_the_verifier_computes_from_the_original_input(name: str) -> None:
    verifier = contents(EXAMPLES / name / "verifier")
    seed_data = contents(EXAMPLES / name / "environment" / "data")
    prompt = load_package(EXAMPLES / name).prompt
    copies = verifier.keys() & seed_data.keys()
    assert {path: verifier[path] for path in copies} == {path: seed_data[path] for path in copies}
    assert all(Path(path).name in prompt for path in copies)


@each_example
def test_the_verifier_has_three_checks(name: str) -> None:
    tree = ast.parse((EXAMPLES / name / "verifier" / "test_outputs.py").read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert len([one for one in functions if one.name.startswith("test_")]) >= 3


@pytest.mark.parametrize("root", [TEMPLATE, *(EXAMPLES / name for name in NAMES)])
def test_checks_that_are_kept_busy_end_in_time_for_a_reward(root: Path) -> None:
    test = (root / "verifier" / "test.sh").read_text("utf-8")
    limit = re.search(r"if timeout -k (\d+) (\d+) python3 -I /verifier/test_outputs.py; then", test)
    given = re.search(r"verifier:\s+timeout_sec: (\d+)", (root / "task.md").read_text("utf-8"))
    assert limit is not None
    assert given is not None
    assert int(limit[1]) + int(limit[2]) < int(given[1])


@pytest.mark.docker
@pytest.mark.slow
@each_example
def test_the_oracle_solves_it_whatever_the_seed(name: str, results: Results) -> None:
    for what in ("oracle", "other seed"):
        result = results[name, what]
        assert (result.reward, result.fault) == (1.0, None), shown(result)
    assert results[name, "oracle"].image != results[name, "other seed"].image


@pytest.mark.docker
@pytest.mark.slow
@each_example
def test_doing_nothing_or_the_wrong_thing_fails(name: str, results: Results) -> None:
    wrong = wrong_solutions(name)
    assert len(wrong) >= 2
    for what in ("untouched", *wrong):
        result = results[name, what]
        assert (result.reward, result.fault) == (0.0, None), f"{what}: {shown(result)}"


@pytest.mark.docker
@pytest.mark.slow
@each_example
def test_wrong_solutions_run_to_their_end(name: str, results: Results) -> None:
    """One that fails by a slip of its own would show nothing of the verifier."""
    for what in wrong_solutions(name):
        steps = results[name, what].steps
        assert [step.exit_code for step in steps] == [0], f"{what}: {steps}"


def test_every_folder_belongs_to_an_example() -> None:
    readme = (KIT / "README.md").read_text("utf-8")
    assert [name for name in NAMES if f"(examples/{name})" not in readme] == []
    assert sorted(path.name for path in WRONG.iterdir()) == NAMES
    scripts = sorted(path.name for path in generator(NAMES[0]).parent.glob("*.py"))
    assert scripts == [generator(name).name for name in NAMES]
    for script in WRONG.glob("*/*.sh"):
        assert script.read_text("utf-8").startswith("# "), f"{script}: why would somebody do this?"


def shown(result: TrialResult) -> str:
    """What a failed assertion needs to say of a trial."""
    said = "\n".join(step.output for step in result.steps)
    return f"{result.reward} {result.fault} {result.detail}\n{said}\n{result.verifier_output}"
