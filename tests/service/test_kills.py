"""kill -9 at any moment, of a writer or of the hub, with another writer beside."""

from pathlib import Path

import pytest

from bench.kills import kill_often


@pytest.mark.parametrize("points", [4, pytest.param(30, marks=pytest.mark.slow)])
def test_kills_lose_nothing_acknowledged_and_leave_nothing_half(
    tmp_path: Path, points: int
) -> None:
    found = kill_often(tmp_path, points, seed=points)
    assert found.acknowledged > points, "the writers did write"
    assert (found.lost, found.half, found.unreadable) == (0, 0, 0)
