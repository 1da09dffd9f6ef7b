"""How fast trials are, and where their time goes.

    python bench/trials.py [--count N] [--dir DIR]

Prints seconds a trial for untouched and scripted trials with 1, 2 and 4 jobs, then the mean time of
each call to the engine. Needs a Docker engine; on a machine without one a private one is started.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from arena.packages import TaskPackage
from arena.sandbox import Agent, Sandbox, scripted, untouched
from arena.sandbox.engine import Engine
from local.baseimages import ensure_base_images
from local.engine import DEFAULT_DIRECTORY, ensure_engine
from tests.sandbox.packages import write_package

CALLS = ("create", "start", "put", "get", "exec_create", "exec_exit_code", "wait", "kill")
CALLS += ("output", "_remove")
AGENTS = {"untouched": untouched(), "scripted": scripted(["echo amber > /root/answer.txt"])}

Times = dict[str, list[float]]


def measure(url: str, package: TaskPackage, agent: Agent, jobs: int, count: int) -> float:
    """Seconds a trial, the last removal included."""
    began = time.perf_counter()
    with Sandbox(url, jobs=jobs) as sandbox:
        results = sandbox.map(lambda _: sandbox.trial(package, agent), range(count))
    faults = [result for result in results if result.fault]
    assert not faults, faults[0]
    return (time.perf_counter() - began) / count


def record_calls() -> Times:
    """Make every engine call leave its time."""
    times: Times = defaultdict(list)
    lock = Lock()

    def timed(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def run(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                with lock:
                    times[name].append(time.perf_counter() - began)

        return run

    for name in CALLS:
        setattr(Engine, name, timed(name, getattr(Engine, name)))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--dir", type=Path, default=DEFAULT_DIRECTORY)
    options = parser.parse_args()
    engine = ensure_engine(options.dir)
    if engine.url is None:
        sys.exit(engine.reason)
    if engine.private:
        ensure_base_images(engine.url)
    times = record_calls()
    with tempfile.TemporaryDirectory() as folder:
        package = write_package(Path(folder) / "bench-word")
        with Sandbox(engine.url) as sandbox:
            sandbox.build(package)
        for name, agent in AGENTS.items():
            for jobs in (1, 2, 4):
                times.clear()
                seconds = measure(engine.url, package, agent, jobs, options.count)
                print(f"{name:10} {jobs} jobs  {seconds:.3f} s a trial  {1 / seconds:.1f} trials/s")
                print("    " + parts(times, options.count))


def parts(times: Times, count: int) -> str:
    """Milliseconds a trial in each call."""
    spent = sorted(((sum(one) / count, name) for name, one in times.items()), reverse=True)
    return "  ".join(f"{name.strip('_')} {1000 * seconds:.0f}" for seconds, name in spent)


if __name__ == "__main__":
    main()
