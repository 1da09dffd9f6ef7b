"""How long `arena check` takes on whole collections, as an author starts it.

    python -m bench.check [--counts 50,100,200] [--repeat N]

Each row is a fresh process `python -m arena check FOLDER --json` on a collection of realistic
packages (200 of them: 50 MB, of which 4 MB is code), after one run that warms the disk's cache. CPU
seconds are the user and system time of the process and its children; they tell the checks' own
cost on a machine that others use, too. Memory is the largest resident set of any of them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.packages import write_collection

ROOT = Path(__file__).resolve().parents[1]


class Measured(NamedTuple):
    """One process: wall and CPU in seconds, peak memory in MB."""

    wall: float
    cpu: float
    memory: float


def measure(folder: Path) -> Measured:
    """Checks `folder` in a process of its own, which must find no error."""
    command = [sys.executable, "-m", "arena", "check", str(folder), "--json"]
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Measured(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)


def _speed() -> float:
    """Seconds of CPU for a fixed piece of work: what the figures below are to be read by."""
    began, total = time.process_time(), 0
    for number in range(10_000_000):
        total += number
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure `arena check`.")
    parser.add_argument("--counts", default="50,100,200", help="packages of each collection")
    parser.add_argument("--repeat", type=int, default=5, help="processes measured of each")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(
        f"median of {options.repeat} processes after one warm-up; Python {sys.version.split()[0]}"
    )
    print(f"{os.cpu_count()} cores, load {load:.1f} when it began, {_speed():.2f} s for ten")
    print("million additions in a loop (a core of 2024 takes about 0.5 s)")
    print("packages      MB  wall s   CPU s  ms of wall a package  peak MB")
    for count in map(int, options.counts.split(",")):
        with tempfile.TemporaryDirectory() as made:
            size = write_collection(Path(made), count)
            measure(Path(made))
            runs = [measure(Path(made)) for _ in range(options.repeat)]
        wall, cpu, memory = (statistics.median(column) for column in zip(*runs, strict=True))
        each = 1000 * wall / count
        print(f"{count:8} {size / 1e6:7.1f} {wall:7.2f} {cpu:7.2f} {each:21.1f} {memory:8.0f}")


if __name__ == "__main__":
    main()
