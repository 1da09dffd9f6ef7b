"""Templates that the suite and its contributors both write in: other tasks of one are no copies."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from arena.nearcopies import Comparison, compare, seal
from bench.nearcopies import families, originals
from bench.nearcopies.mutations import with_prompt
from bench.nearcopies.originals import Package

KEY = b"k" * 40  # the same in each run, so that a sample is the same


def compared(packages: Iterable[Package], suite: Iterable[Package], folder: Path) -> Comparison:
    roots = [originals.write(one, folder / f"mine-{n:02}") for n, one in enumerate(packages)]
    tasks = [originals.write(one, folder / f"suite-{n:02}") for n, one in enumerate(suite)]
    return compare(roots, [seal(tasks, KEY, "v1")])


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("family", families.families())
def test_no_other_task_of_a_template_is_a_copy(family: str, size: int, tmp_path: Path) -> None:
    """A suite with few tasks of a template cannot know what is the template's."""
    drawn = families.draw(family, size, 0)
    siblings = list(drawn.siblings.values())[:12]
    assert compared(siblings, drawn.suite.values(), tmp_path).copies == []


@pytest.mark.parametrize("family", ["tables", "pipelines", "house"])
def test_a_task_of_a_template_is_still_known_where_its_prompt_is_told_anew(
    family: str, tmp_path: Path
) -> None:
    task, *_ = families.draw(family, 1, 0).suite.values()
    told = with_prompt(task, "The folder before you holds what was agreed. See to it, please.")
    (near,) = compared([told], [task], tmp_path).copies
    assert near.likeness.part in ("oracle", "code")
    assert {passage.file.partition("/")[0] for passage in near.passages} <= {"oracle", "verifier"}


def test_a_typed_answer_is_known_by_its_prompt_alone(tmp_path: Path) -> None:
    """Where oracle and verifier are the template's, only the whole prompt can convict."""
    drawn = families.draw("graded", 1, 0)
    (task,) = drawn.suite.values()
    found = compared([task, *list(drawn.siblings.values())[:3]], [task], tmp_path)
    assert [(near.package, near.likeness.level) for near in found.copies] == [("mine-00", "copy")]
    assert {near.package for near in found.suspects} == {"mine-01", "mine-02", "mine-03"}
