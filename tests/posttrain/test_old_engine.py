"""A run on an engine that is too old for its tasks ends before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.posttrain.events import StageEvent
from arena.posttrain.faults import PlatformFault
from arena.posttrain.run import RunInputs, execute
from arena.sandbox import Sandbox
from local.demo.tasks import write_collection, write_suite
from tests.posttrain.runs import SUITE_KEY, tiny

pytestmark = pytest.mark.docker


@pytest.fixture
def inputs(tmp_path: Path) -> RunInputs:
    challenge, recipe = tiny()
    write_collection(tmp_path / "collection", 3)
    write_suite(tmp_path / "suite", 3)
    return RunInputs(
        run_id="run-1",
        challenge=challenge,
        recipe=recipe,
        collection=tmp_path / "collection",
        suite=tmp_path / "suite",
        base_model=tmp_path / "none",
        suite_key=SUITE_KEY,
        workdir=tmp_path,
        checkpoints=tmp_path / "checkpoints",
        teacher=None,
        pins={},
    )


def too_new(folder: Path) -> list[str]:
    """Makes two tasks of a folder need a newer engine; their names."""
    tasks = sorted(path.parent.parent for path in folder.rglob("environment/Dockerfile"))[:2]
    for task in tasks:
        with (task / "environment" / "Dockerfile").open("a") as file:
            file.write("RUN <<END\ntrue\nEND\n")
    return [task.name for task in tasks]


def run(inputs: RunInputs, engine: str) -> tuple[PlatformFault, list[StageEvent]]:
    told: list[StageEvent] = []
    with Sandbox(engine) as sandbox:
        sandbox._engine.version = "20.10.24"
        with pytest.raises(PlatformFault) as caught:
            execute(inputs, sandbox, sandbox, told.append)
    return caught.value, told


def test_the_fault_is_the_platforms_and_names_the_tasks(
    docker_engine: str, inputs: RunInputs
) -> None:
    names = too_new(inputs.collection)
    fault, told = run(inputs, docker_engine)
    assert fault.code == "engine_too_old"
    assert [line.partition(":")[0] for line in fault.message.splitlines()[1:]] == names
    assert "version 23 or newer; this one is 20.10.24" in fault.message
    assert told == []


def test_of_the_suites_tasks_it_tells_the_number_alone(
    docker_engine: str, inputs: RunInputs
) -> None:
    names = too_new(inputs.suite)
    fault, told = run(inputs, docker_engine)
    assert fault.message == "The worker's engine is too old for 2 of the suite's tasks."
    assert not any(name in fault.message for name in names)
    assert told == []
