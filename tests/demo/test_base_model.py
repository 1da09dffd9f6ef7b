"""Making the base once: what is current is kept, what is outdated is replaced, races are safe."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from local.demo.base_model import MARKER, build
from local.demo.pretraining import Pretraining

QUICK = Pretraining(
    hidden_size=16, heads=2, copying_steps=1, text_steps=2, batch=3, tokenizer_documents=6
)


def visible(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("[!.]*")]


def test_a_current_model_is_kept(tmp_path: Path) -> None:
    build(tmp_path / "base", QUICK)
    (tmp_path / "base" / "mine").touch()
    build(tmp_path / "base", QUICK)
    assert (tmp_path / "base" / "mine").exists()


def test_an_outdated_model_is_replaced(tmp_path: Path) -> None:
    base = build(tmp_path / "base", QUICK)
    (base / MARKER).write_text("{}")
    (base / "old").touch()
    build(base, QUICK)
    assert not (base / "old").exists()
    assert visible(tmp_path) == ["base"]


def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    one, two = build(tmp_path / "one", QUICK), build(tmp_path / "two", QUICK)
    for path in one.iterdir():
        assert path.read_bytes() == (two / path.name).read_bytes(), path.name


def test_a_killed_build_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="must match"):
        build(tmp_path / "base", Pretraining(hidden_size=16, heads=3))
    assert visible(tmp_path) == []
    build(tmp_path / "base", QUICK)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".base.lock", "base"]


def test_concurrent_callers_end_with_one_model(tmp_path: Path) -> None:
    callers = [threading.Thread(target=build, args=(tmp_path / "base", QUICK)) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert visible(tmp_path) == ["base"]
    assert (tmp_path / "base" / "model.safetensors").exists()
