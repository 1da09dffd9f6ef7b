"""The gate over a collection: who passes, who is left out and why, and when it ends the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from arena.packages import TaskPackage, load_packages
from arena.posttrain.events import LineSink, WordyProgress
from arena.posttrain.faults import AuthorFault
from arena.posttrain.gate import Gated, near_copies, run_gate
from arena.posttrain.trials import Crew
from arena.sandbox import TrialResult
from local.demo.tasks import suite_specs, write_collection, write_suite
from tests.posttrain.fakes import FakeSandbox


@pytest.fixture
def packages(tmp_path: Path) -> list[TaskPackage]:
    write_collection(tmp_path, 4)
    return load_packages(tmp_path)


def gate(
    packages: list[TaskPackage],
    sandbox: FakeSandbox,
    min_tasks: int = 1,
    suite: Sequence[TaskPackage] = (),
    on_line: LineSink = lambda _stage, _line: None,
) -> Gated:
    crew = Crew(sandbox.sandbox(), lambda: False)
    copies = near_copies(packages, suite)
    return run_gate(
        packages, copies, min_tasks, crew, WordyProgress("gate", lambda event: None, on_line)
    )


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


def test_a_near_copy_of_a_held_out_task_is_left_out_untried(
    packages: list[TaskPackage], tmp_path_factory: pytest.TempPathFactory
) -> None:
    suite = write_suite(tmp_path_factory.mktemp("suite"), 8)
    stolen = tmp_path_factory.mktemp("stolen")
    prompt = (suite[0] / "task.md").read_text()
    (suite[0] / "task.md").write_text(prompt.replace(suite_specs(1)[0].a, "lantern"))
    suite[0].rename(stolen / "my-own-name")
    write_suite(suite[0].parent, 8)
    copies = load_packages(stolen)
    gated = gate([*packages, *copies], FakeSandbox(), suite=load_packages(suite[0].parent))
    assert list(gated.passed) == packages
    left_out = gated.results[-1]
    assert not left_out.ok
    assert "too close to a held-out task" in left_out.reason
    assert suite[0].name not in left_out.reason


def test_too_few_sound_tasks_are_the_authors_fault(packages: list[TaskPackage]) -> None:
    sandbox = FakeSandbox(not_building=(packages[0].name,))
    with pytest.raises(AuthorFault) as caught:
        gate(packages, sandbox, min_tasks=4)
    assert caught.value.code == "too_few_tasks"
    assert packages[0].name in caught.value.message


def test_the_gate_says_of_each_task_what_came_of_it(packages: list[TaskPackage]) -> None:
    first, second, *_ = (package.name for package in packages)
    sandbox = FakeSandbox(
        oracles={second: TrialResult(0.0, None, "", verifier_output="\nexpected\na.txt\n")},
        not_building=(first,),
    )
    said: list[str] = []
    gate(packages, sandbox, on_line=lambda _stage, line: said.append(line))
    own = [line for line in said if line.startswith(second)]
    assert own[0] == f"{second}: left out, oracle fails: the oracle scores 0, not 1.0"
    assert own[1:] == [f"{second}: verifier: expected", f"{second}: verifier: a.txt"]
    assert any(line.startswith(f"{first}: left out, not built:") for line in said)
    assert sum("built and proven" in line for line in said) == 2
