"""Template families: a few of a template's tasks are in the suite, others come from its authors.

A suite may hold a single task of a template that contributors write in, too. What the template
gives to all its tasks can then not be learnt from the suite. Of each family `SIZES` tasks stand in
the suite, and others of it, innocent of them, are judged; `DRAWS` times with other tasks.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache, partial
from itertools import islice, product
from typing import NamedTuple

from bench.nearcopies import house, innocents, originals, pipelines
from bench.nearcopies.innocents import Table
from bench.nearcopies.originals import Package
from bench.nearcopies.pipelines import Pipeline

SIZES = (1, 2, 3, 4)
DRAWS = 5
SIBLINGS = 30


class Task(NamedTuple):
    """A template's task: what it is of (the story, and what is asked), and how it is made."""

    story: object
    asked: tuple[object, ...]
    build: Callable[[], Package]


class Draw(NamedTuple):
    """Packages for the suite, and innocent ones, by name."""

    suite: dict[str, Package]
    siblings: dict[str, Package]


@cache
def families() -> dict[str, list[Task]]:
    """The families' tasks by their names."""
    tables = innocents.every_table()
    lists = (pipelines.STORIES, pipelines.SELECTIONS, pipelines.MEASURES, pipelines.REPORTS)
    every = [Pipeline(*one) for one in product(*(range(len(one)) for one in lists))]
    return {
        "tables": [Task(t.story, t[1:], partial(innocents.table, t)) for t in tables],
        "pipelines": [Task(p.story, p[1:], partial(pipelines.pipeline, p)) for p in every],
        "house": _framed(),
        "graded": [Task(t.story, t[1:], partial(_graded, t)) for t in tables],
    }


def _graded(task: Table) -> Package:
    return house.graded(innocents.table(task))


def _framed() -> list[Task]:
    """Every question about every original's data, in the house's frame.

    A question is the same whichever file it is about.
    """
    questions = [q for spec in originals.specs() for q in innocents.questions_about(spec)]
    framed = [house.framed(question) for question in questions]
    return [
        Task(q.family, (), partial(originals.build, f))
        for q, f in zip(questions, framed, strict=True)
    ]


def _differ(one: Task, other: Task) -> bool:
    """Whether two tasks of a template are two tasks: another story, and another thing asked."""
    changed = sum(a != b for a, b in zip(one.asked, other.asked, strict=True))
    return one.story != other.story and changed >= min(2, len(one.asked))


def draw(family: str, size: int, number: int) -> Draw:
    """`size` different tasks for the suite, and `SIBLINGS` that are innocent of all of them."""
    tasks = list(families()[family])
    random.Random(f"{family} {size} {number}").shuffle(tasks)
    suite: list[Task] = []
    for task in tasks:
        if len(suite) < size and all(_differ(task, other) for other in suite):
            suite.append(task)
    innocent = (task for task in tasks if all(_differ(task, other) for other in suite))
    siblings = enumerate(islice(innocent, SIBLINGS))
    return Draw(
        {f"{family}-{n}": task.build() for n, task in enumerate(suite)},
        {f"{family}-{size}-{number}-{n}": task.build() for n, task in siblings},
    )
