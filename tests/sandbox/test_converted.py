"""Converted tasks in real containers: their oracle scores, the untouched environment does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.packages import load_package
from arena.packages.conversion import convert
from arena.packages.schema import Domain
from arena.sandbox import Sandbox, oracle, scripted, untouched
from tests.packages.foreign import HARBOR, STEPS, TERMINAL_BENCH, write_task

pytestmark = pytest.mark.docker

SETTINGS = 'version = "1.0"\nmetadata = { author_name = "Ann", category = "debugging" }\n'


@pytest.mark.parametrize(
    ("files", "changes"),
    [
        (HARBOR, {"task.toml": SETTINGS}),
        (TERMINAL_BENCH, {}),
        (STEPS, {}),
        (STEPS, {"task.toml": STEPS["task.toml"].replace('"final"', '"mean"')}),
    ],
    ids=["harbor", "terminal-bench", "last step", "mean of steps"],
)
def test_a_converted_task_can_be_replayed(
    sandbox: Sandbox, tmp_path: Path, files: dict[str, str], changes: dict[str, str]
) -> None:
    made = tmp_path / "made"
    convert(write_task(tmp_path / "source", files, changes), made, Domain.SOFTWARE_ENGINEERING)
    package = load_package(made)
    results = sandbox.map(lambda agent: sandbox.trial(package, agent), [oracle(), untouched()])
    assert [(r.reward, r.fault) for r in results] == [(1.0, None), (0.0, None)], results


def test_half_of_the_steps_is_half_of_the_reward(sandbox: Sandbox, tmp_path: Path) -> None:
    settings = STEPS["task.toml"].replace('"final"', '"mean"')
    source = write_task(tmp_path / "source", STEPS, {"task.toml": settings})
    convert(source, tmp_path / "made", Domain.SOFTWARE_ENGINEERING)
    package = load_package(tmp_path / "made")
    assert sandbox.trial(package, scripted(["touch /root/a"])).reward == 0.5
