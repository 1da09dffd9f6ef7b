"""What a machine lacks for a recipe is known before a run is leased."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from arena.challenges import Recipe, TeacherSettings, load_file
from arena.posttrain.machine import what_recipe_lacks

RECIPES = Path(__file__).resolve().parents[2] / "challenges" / "recipes"
OF_A_GPU = load_file(RECIPES / "qwen3.5-9b-lora.yaml", Recipe)


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The PATH: a folder that holds the server's program."""
    program = tmp_path / "vllm"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def with_gpu(monkeypatch: pytest.MonkeyPatch, gb: int, bf16: bool = True) -> None:
    """PyTorch as it answers on a machine with a GPU: there is none to ask here."""
    memory = SimpleNamespace(total_memory=gb * 2**30)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: bf16)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _index: memory)


def test_the_laptops_recipe_lacks_nothing() -> None:
    assert (
        what_recipe_lacks(load_file(RECIPES / "demo-cpu.yaml", Recipe), has_teacher=False) is None
    )


def test_a_gpu_that_is_large_enough_lacks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpu(monkeypatch, gb=80)
    assert what_recipe_lacks(OF_A_GPU, has_teacher=False) is None


def test_no_gpu_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "needs a CUDA device" in (what_recipe_lacks(OF_A_GPU, has_teacher=False) or "")


def test_too_little_memory_is_named_with_both_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpu(monkeypatch, gb=24)
    lacks = what_recipe_lacks(OF_A_GPU, has_teacher=False) or ""
    assert "79 GB" in lacks
    assert "24 GB" in lacks


def test_an_old_gpu_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpu(monkeypatch, gb=80, bf16=False)
    assert "bfloat16" in (what_recipe_lacks(OF_A_GPU, has_teacher=False) or "")


def test_a_server_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, programs: Path
) -> None:
    with_gpu(monkeypatch, gb=80)
    (programs / "vllm").unlink()
    assert "command vllm" in (what_recipe_lacks(OF_A_GPU, has_teacher=False) or "")


def test_a_teacher_that_nobody_named_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpu(monkeypatch, gb=80)
    taught = OF_A_GPU.model_copy(update={"demonstrations": TeacherSettings(model="teacher")})
    assert "ARENA_TEACHER_URL" in (what_recipe_lacks(taught, has_teacher=False) or "")
    assert what_recipe_lacks(taught, has_teacher=True) is None
