"""The demo run, seed by seed: what it moved, how sure that is, and what it took.

    python -m bench.demo [--seeds 0 1 2]

Every trial is executed, in containers of the engine that this machine offers.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from arena.challenges import Challenge, load_challenges
from arena.posttrain.run import RunInputs, execute
from arena.report import Report
from arena.sandbox import Caps, Sandbox
from leaderboard.statistics import change_over, task_rates
from local.baseimages import ensure_base_images
from local.demo.base_model import build
from local.demo.tasks import write_collection, write_suite
from local.engine import ensure_engine

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    seeds = parser.parse_args().seeds
    engine = ensure_engine(ROOT / ".local" / "docker")
    if engine.url is None:
        raise SystemExit(engine.reason)
    if engine.private:
        ensure_base_images(engine.url)
    base_model = build(ROOT / ".local" / "cache" / "base-model")
    print("seed  before  after  change pp    SE  trials  seconds  per stage")
    for seed in seeds:
        began = time.monotonic()
        report, challenge = run(engine.url, base_model, seed)
        show(report, challenge, time.monotonic() - began)


def run(engine: str, base_model: Path, seed: int) -> tuple[Report, Challenge]:
    """One demo run under a seed."""
    loaded = load_challenges(ROOT / "challenges")
    challenge = loaded.challenges["demo"]
    evaluation = challenge.evaluation.model_copy(update={"seed": seed})
    challenge = challenge.model_copy(update={"evaluation": evaluation})
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_collection(root / "collection")
        write_suite(root / "suite")
        inputs = RunInputs(
            run_id=f"seed-{seed}",
            challenge=challenge,
            recipe=loaded.recipes["demo"],
            collection=root / "collection",
            suite=root / "suite",
            base_model=base_model,
            suite_key=b"bench" * 8,
            workdir=root,
            checkpoints=root / "checkpoints",
            teacher=None,
            pins={},
        )
        training, suite = Sandbox(engine), Sandbox(engine, caps=Caps(network=False))
        with training, suite:
            return execute(inputs, training, suite, lambda _event: None), challenge


def show(report: Report, challenge: Challenge, seconds: float) -> None:
    """One line of the table."""
    change = change_over(task_rates(report.trials, challenge.evaluation.pass_threshold))
    assert change is not None
    assert change.stderr is not None
    stages = ", ".join(f"{s.stage} {s.seconds:.0f}" for s in report.stages)
    print(
        f"{report.seed:4}  {change.before:6.1%}  {change.after:5.1%}  {change.change * 100:+9.1f}"
        f"  {change.stderr * 100:4.1f}  {len(report.trials):6}  {seconds:7.0f}  {stages}",
        flush=True,
    )


if __name__ == "__main__":
    main()
