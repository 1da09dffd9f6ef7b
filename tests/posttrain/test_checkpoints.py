"""Whole stages are taken over under the same pins, and only so."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel

from arena.posttrain.checkpoints import KEPT_SECONDS, Checkpoints, Whole, sweep
from arena.posttrain.model import Policy
from tests.posttrain.runs import demo

PINS = {"suite_hmac": "a", "recipe_sha256": "b"}
Open = Callable[..., Checkpoints]


class Steps(BaseModel, frozen=True):
    steps: tuple[int, ...]


@pytest.fixture
def reopened(tmp_path: Path) -> Open:
    """The checkpoints of one run as a later attempt opens them, under pins that may differ."""
    return lambda **pins: Checkpoints(tmp_path / "run-1", {**PINS, **pins})


@pytest.fixture(scope="module")
def policy(base_model_dir: Path) -> Policy:
    return Policy.load(base_model_dir, demo()[1])


def train(policy: Policy) -> None:
    """Moves every trained weight."""
    policy.put_trained({name: tensor + 1 for name, tensor in policy.trained_copy().items()})


def test_a_stage_that_is_whole_is_taken_over(reopened: Open) -> None:
    assert reopened().read("gate", Whole[Steps]) is None
    reopened().write("gate", 2.5, Steps(steps=(1, 2)))
    found = reopened().read("gate", Whole[Steps])
    assert found == Whole[Steps](seconds=2.5, result=Steps(steps=(1, 2)))


@pytest.mark.parametrize("pin", PINS)
def test_under_other_pins_nothing_is(reopened: Open, pin: str) -> None:
    reopened().write("gate", 1, Steps(steps=()))
    assert reopened(**{pin: "other"}).read("gate", Whole[Steps]) is None
    assert reopened().read("gate", Whole[Steps]) is None, "what other pins made is gone"


@pytest.mark.parametrize("content", [b"", b"{", b'{"seconds": 1, "result": {"steps": ["x"]}}'])
def test_what_cannot_be_read_counts_as_not_made_and_so_does_what_came_after(
    reopened: Open, tmp_path: Path, content: bytes
) -> None:
    for stage in ("gate", "baseline"):
        reopened().write(stage, 1, Steps(steps=()))
    (tmp_path / "run-1" / "gate.json").write_bytes(content)
    kept = reopened()
    assert kept.read("gate", Whole[Steps]) is None
    assert kept.read("baseline", Whole[Steps]) is None


def test_weights_come_back_bit_for_bit(reopened: Open, policy: Policy) -> None:
    train(policy)
    trained = policy.weights_digest()
    reopened().write_trained("sft", 1, Steps(steps=(1,)), policy)
    train(policy)
    assert policy.weights_digest() != trained
    assert reopened().read_trained("sft", Whole[Steps], policy)
    assert policy.weights_digest() == trained


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("damage", [Path.unlink, cut, flip])
def test_damaged_weights_are_not_taken_over(
    reopened: Open, policy: Policy, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    reopened().write_trained("sft", 1, Steps(steps=(1,)), policy)
    damage(next((tmp_path / "run-1").glob("*.safetensors")))
    before = policy.weights_digest()
    kept = reopened()
    assert kept.read_trained("sft", Whole[Steps], policy) is None
    assert policy.weights_digest() == before
    kept.write("final", 1, Steps(steps=()))
    assert kept.read("final", Whole[Steps]) is None


def test_checkpoints_that_nobody_took_up_go_in_the_end(tmp_path: Path) -> None:
    for name in ("old", "new"):
        Checkpoints(tmp_path / name, PINS).write("gate", 1, Steps(steps=()))
    old = (tmp_path / "old").stat().st_mtime - KEPT_SECONDS - 1
    os.utime(tmp_path / "old", (old, old))
    assert sweep(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert sweep(tmp_path / "none") == 0


def test_what_another_worker_removes_meanwhile_stops_no_sweep(tmp_path: Path) -> None:
    (tmp_path / "listed").symlink_to(tmp_path / "and-gone")
    assert sweep(tmp_path) == 0
