"""Turns from a server are those that the trainer's own process samples, through training too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.challenges import ServerSettings
from arena.posttrain.faults import PlatformFault
from arena.posttrain.model import Policy, make_deterministic
from arena.posttrain.sampling import InProcess
from arena.posttrain.served import Served, served
from tests.posttrain.modelserver import install
from tests.posttrain.runs import run
from tests.posttrain.test_execute import timeless
from tests.posttrain.test_turns import of_qwen
from tests.posttrain.tinyqwen import write_tiny_qwen

SERVER = ServerSettings(gpu_memory_fraction=0.4, start_seconds=120)


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_qwen(tmp_path_factory.mktemp("qwen"))


@pytest.fixture
def vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program is on the PATH."""
    program = install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{program}{os.pathsep}{os.environ['PATH']}")
    return program / "vllm"


@pytest.fixture
def policy(qwen: Path) -> Policy:
    make_deterministic(0, 2)
    return Policy.load(qwen, of_qwen()[1])


@pytest.fixture
def server(vllm: Path, policy: Policy, qwen: Path, tmp_path: Path) -> Iterator[Served]:
    recipe = of_qwen()[1]
    assert recipe.lora
    with served(policy, qwen, recipe, recipe.lora, SERVER, tmp_path) as sampler:
        yield sampler


def test_a_server_samples_the_policy_as_it_was_at_the_last_refresh(
    server: Served, policy: Policy
) -> None:
    context = policy.tokenizer("List the files.")["input_ids"]
    asked = (context, [1, 2, 3], 1.0, 12)
    own = InProcess(policy)
    server.refresh()
    first = server.sample(*asked)
    assert first == own.sample(*asked)
    policy.put_trained({name: tensor + 0.3 for name, tensor in policy.trained_copy().items()})
    assert server.sample(*asked) == first
    server.refresh()
    assert server.sample(*asked) == own.sample(*asked) != first


def test_what_a_server_refuses_is_the_platforms_fault_and_quotes_nothing(server: Served) -> None:
    with pytest.raises(PlatformFault, match=r"failed at completions: HTTPStatusError") as fault:
        server.sample([1] * 5000, [1], 1.0, 16)
    assert fault.value.code == "server_failed"


@pytest.mark.parametrize("ends", ["exit 3", "sleep 60"])
def test_a_server_that_does_not_come_up_is_the_platforms_fault(
    vllm: Path, policy: Policy, qwen: Path, tmp_path: Path, ends: str
) -> None:
    vllm.write_text(f"#!/bin/sh\n{ends}\n")
    recipe = of_qwen()[1]
    assert recipe.lora
    settings = SERVER.model_copy(update={"start_seconds": 1.0})
    with (
        pytest.raises(PlatformFault, match="did not come up"),
        served(policy, qwen, recipe, recipe.lora, settings, tmp_path),
    ):
        pass


@pytest.mark.slow
@pytest.mark.docker
def test_a_run_through_a_server_gives_the_report_of_one_in_process(
    vllm: Path, qwen: Path, docker_engine: str, tmp_path: Path
) -> None:
    challenge, recipe = of_qwen()
    through = recipe.model_copy(update={"server": SERVER})
    own, _ = run(challenge, recipe, qwen, tmp_path / "own", docker_engine, tasks=2)
    asked, _ = run(challenge, through, qwen, tmp_path / "served", docker_engine, tasks=2)
    assert timeless(asked) == timeless(own)
