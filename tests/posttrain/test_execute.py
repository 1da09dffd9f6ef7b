"""A whole run, tiny, in real containers: complete, sealed, and the same again under its seed."""

from __future__ import annotations

import io
import logging
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from arena.packages import load_packages
from arena.posttrain.events import StageEvent
from arena.posttrain.run import execute
from arena.posttrain.seeds import opaque_id
from arena.report import Report
from arena.sandbox import Sandbox
from local.demo.tasks import write_collection, write_suite
from local.stack import ROOT
from tests.posttrain.runs import SUITE_KEY, inputs_of, run, tiny

pytestmark = pytest.mark.docker


class Twice(NamedTuple):
    first: Report
    second: Report
    told: list[StageEvent]
    output: str
    """What the first run wrote to stdout, stderr and the log."""
    suite: Path
    lines: list[tuple[str, str]]
    """What the first run's stages said in words."""


@pytest.fixture(scope="module")
def twice(
    docker_engine: str, base_model_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Twice:
    """One run and its repetition, with other numbers of trials side by side."""
    workdir = tmp_path_factory.mktemp("run")
    lines: list[tuple[str, str]] = []
    output = io.StringIO()
    handler = logging.StreamHandler(output)
    logging.getLogger().addHandler(handler)
    with redirect_stdout(output), redirect_stderr(output):
        first, told = run(
            *tiny(),
            base_model_dir,
            workdir / "a",
            docker_engine,
            on_line=lambda *said: lines.append(said),
            tasks=2,
        )
    logging.getLogger().removeHandler(handler)
    second, _ = run(*tiny(), base_model_dir, workdir / "b", docker_engine, jobs=1, tasks=2)
    return Twice(first, second, told, output.getvalue(), workdir / "a" / "suite", lines)


def timeless(report: Report) -> dict[str, Any]:
    """A report without what differs from one execution to the next."""
    return report.model_dump(exclude={"stages", "resumed"})


def test_one_seed_gives_one_report_but_for_times(twice: Twice) -> None:
    assert timeless(twice.first) == timeless(twice.second)


@pytest.mark.slow
def test_a_run_killed_in_every_stage_ends_with_the_report_of_one_that_was_not(
    twice: Twice, docker_engine: str, base_model_dir: Path, tmp_path: Path
) -> None:
    """Each attempt goes on after the last whole stage, whose checkpoint stays as it was."""
    write_collection(tmp_path / "collection", 2)
    write_suite(tmp_path / "suite", 2)
    whole: dict[str, bytes] = {}
    stages = ["gate", "baseline", "sft", "grpo", "final", "report"]
    for number, stage in enumerate(stages):
        command = [sys.executable, "-m", "tests.posttrain.runs", stage]
        command += [str(base_model_dir), str(tmp_path), docker_engine]
        assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
        kept = {p.stem: p.read_bytes() for p in (tmp_path / "checkpoints").glob("*.json")}
        assert set(kept) == {"pins", *stages[:number]}
        assert whole.items() <= kept.items()
        whole = kept
    with Sandbox(docker_engine) as training, Sandbox(docker_engine) as suite:
        training.sweep()
        inputs = inputs_of(*tiny(), base_model_dir, tmp_path)
        report = execute(inputs, training, suite, lambda _event: None)
    assert list(report.resumed) == stages[:-1]
    assert timeless(report) == timeless(twice.first)
    assert [time.stage for time in report.stages] == stages


def test_the_stages_come_in_order_and_end(twice: Twice) -> None:
    order = ["gate", "baseline", "sft", "grpo", "final", "report"]
    assert [time.stage for time in twice.first.stages] == order
    finished = [event for event in twice.told if event.status == "finished"]
    assert [event.stage for event in finished] == order
    assert all(event.done == event.total for event in finished)


def test_every_trial_of_both_arms_is_in_the_report(twice: Twice) -> None:
    ids = {opaque_id(SUITE_KEY, package.name) for package in load_packages(twice.suite)}
    trials = {(trial.task, trial.arm, trial.trial) for trial in twice.first.trials}
    assert trials == {(i, arm, k) for i in ids for arm in ("before", "after") for k in range(2)}
    assert all(trial.reward is not None for trial in twice.first.trials)


def test_training_is_told_with_its_figures(twice: Twice) -> None:
    training = twice.first.training
    assert (training.demonstrations, training.sft_steps, training.grpo_steps) == (2, 1, 2)
    assert [point.step for point in training.reward_curve] == [1, 2]
    assert training.weights_changed
    assert all(gate.ok for gate in twice.first.gates)


def test_gate_and_training_say_what_they_do(twice: Twice) -> None:
    assert list(dict.fromkeys(stage for stage, _ in twice.lines)) == ["gate", "sft", "grpo"]
    said = [line for _, line in twice.lines]
    assert sum("built and proven" in line for line in said) == 2
    assert "2 of 2 tasks have a demonstration" in said
    assert sum(line.startswith("step 2: loss") and "reward" in line for line in said) == 1


def test_the_suite_is_nowhere(twice: Twice) -> None:
    said = twice.first.model_dump_json() + repr(twice.told) + twice.output + repr(twice.lines)
    for package in load_packages(twice.suite):
        word = package.name.split("-")[1]
        assert word not in said
        assert package.prompt not in said
        assert package.oracle().splitlines()[-1] not in said
