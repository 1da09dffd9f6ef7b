"""The figures behind a score, against values computed by hand."""

import math

import pytest

from arena.report import Trial
from leaderboard.statistics import (
    change_over,
    interval95,
    mean_over_runs,
    missing_rate,
    standard_error,
    task_rates,
)


def trials(task: str, arm: str, rewards: list[float | None]) -> list[Trial]:
    return [
        Trial.model_validate(
            {
                "task": task * 16,
                "domain": "software-engineering",
                "arm": arm,
                "trial": number,
                "reward": reward,
            }
        )
        for number, reward in enumerate(rewards)
    ]


def test_the_check_vector() -> None:
    given = []
    for task, before, after in (
        ("a", [0, 0], [1, 0]),
        ("b", [0, 0], [0, 1]),
        ("c", [1, 0], [0, 1]),
    ):
        given += trials(task, "before", before) + trials(task, "after", after)
    change = change_over(task_rates(given, pass_threshold=1.0))
    assert change is not None
    assert change.change == pytest.approx(1 / 3)
    assert change.stderr == pytest.approx(1 / 6)
    assert change.after - change.before == change.change
    low, high = change.ci95 or (0, 0)
    assert (low + high) / 2 == pytest.approx(1 / 3)
    assert (high - low) / 2 == pytest.approx(4.302653 / 6), "t with 2 degrees of freedom"


def test_a_trial_passes_at_the_threshold() -> None:
    rates = task_rates(trials("a", "before", [1.0, 0.999, 0.0]), pass_threshold=1.0)
    assert rates[0].before == pytest.approx(1 / 3)
    rates = task_rates(trials("a", "before", [1.0, 0.5, 0.0]), pass_threshold=0.5)
    assert rates[0].before == pytest.approx(2 / 3)


def test_a_missing_trial_is_no_zero() -> None:
    given = trials("a", "before", [None, 1.0]) + trials("a", "after", [None, None])
    rates = task_rates(given, pass_threshold=1.0)
    assert (rates[0].before, rates[0].after, rates[0].difference) == (1.0, None, None)
    assert change_over(rates) is None
    assert missing_rate(given, "before") == 0.5
    assert missing_rate([], "after") == 1.0


def test_one_task_has_no_interval() -> None:
    assert standard_error([0.3]) is None
    assert interval95(0.3, None, 0) is None


def test_runs_carry_both_spreads() -> None:
    one = mean_over_runs([{"a": 0.5, "b": 0.5, "c": 0.0}])
    assert one is not None
    assert one.stderr == pytest.approx(1 / 6)
    two = mean_over_runs([{"a": 0.5, "b": 0.5, "c": 0.0}, {"a": 0.1, "b": 0.1, "c": -0.4}])
    assert two is not None
    assert two.change == pytest.approx(2 / 15)
    assert two.stderr == pytest.approx(math.hypot(1 / 6, 0.2))
    assert mean_over_runs([]) is None
