"""The whole demo run: the collection lifts the base on tasks that it was not trained on."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaderboard.statistics import change_over, task_rates
from tests.posttrain.runs import demo, run


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.timeout(1800)  # it takes under 6 minutes where it has two cores for itself
def test_training_on_the_example_collection_raises_the_held_out_pass_rate(
    docker_engine: str, base_model_dir: Path, tmp_path: Path
) -> None:
    challenge, recipe = demo()
    report, _ = run(challenge, recipe, base_model_dir, tmp_path, docker_engine)
    change = change_over(task_rates(report.trials, challenge.evaluation.pass_threshold))
    assert change is not None
    assert change.stderr is not None
    print(f"{100 * change.before:.1f} → {100 * change.after:.1f}, ±{100 * change.stderr:.1f} pp")
    print({time.stage: round(time.seconds) for time in report.stages})
    assert change.change >= 0.25
    assert change.change > 2 * change.stderr
