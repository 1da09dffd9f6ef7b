"""kill -9 of the app, or of the hub below it, while clients write through the API."""

from pathlib import Path

import pytest

from bench.appkills import kill_often


@pytest.mark.parametrize("points", [3, pytest.param(15, marks=pytest.mark.slow)])
def test_what_an_app_answered_before_it_was_killed_is_there_and_nothing_else(
    tmp_path: Path, points: int
) -> None:
    found = kill_often(tmp_path, points, seed=points)
    assert found.answered > points, "the clients did write"
    assert found[2:] == (0, 0, 0, 0, 0), found
