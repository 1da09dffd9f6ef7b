"""The gate over a collection: who passes, who is left out and why, and when it ends the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.packages import TaskPackage, load_packages
from arena.posttrain.events import Progress
from arena.posttrain.faults import AuthorFault
from arena.posttrain.gate import Gated, run_gate
from arena.posttrain.trials import Crew
from arena.sandbox import TrialResult
from local.demo.tasks import write_collection
from tests.posttrain.fakes import FakeSandbox


@pytest.fixture
def packages(tmp_path: Path) -> list[TaskPackage]:
    write_collection(tmp_path, 4)
    return load_packages(tmp_path)


def gate(packages: list[TaskPackage], sandbox: FakeSandbox, min_tasks: int = 1) -> Gated:
    crew = Crew(sandbox.sandbox(), lambda: False)
    return run_gate(packages, min_tasks, crew, Progress("gate", lambda event: None))


def test_sound_tasks_pass_in_order(packages: list[TaskPackage]) -> None:
    gated = gate(packages, FakeSandbox())
    assert list(gated.passed) == packages
    assert [result.package for result in gated.results] == [p.name for p in packages]


def test_unsound_tasks_are_left_out_with_the_reason(packages: list[TaskPackage]) -> None:
    first, second, third, fourth = (package.name for package in packages)
    sandbox = FakeSandbox(
        oracles={second: TrialResult(0.0, None, "")},
        others={third: TrialResult(1.0, None, "")},
        not_building=(first,),
    )
    gated = gate(packages, sandbox)
    assert [package.name for package in gated.passed] == [fourth]
    reasons = [result.reason for result in gated.results]
    assert "RUN false: exit code: 1" in reasons[0]
    assert "the oracle scores 0" in reasons[1]
    assert "solved before it begins" in reasons[2]
    assert reasons[3] == ""


def test_too_few_sound_tasks_are_the_authors_fault(packages: list[TaskPackage]) -> None:
    sandbox = FakeSandbox(not_building=(packages[0].name,))
    with pytest.raises(AuthorFault) as caught:
        gate(packages, sandbox, min_tasks=4)
    assert caught.value.code == "too_few_tasks"
    assert packages[0].name in caught.value.message
