"""How long 200 packages take against sealed suites of several sizes, and how much memory.

    python -m bench.nearcopies speed [--tasks 1000,10000,50000] [--packages 200]

A suite's index is made of as many tasks as asked for, each with 400 features a part: 280 of its own
and 120 that it shares with others, as often as words are, by Zipf's law; the index keeps a sample
of them. The packages are those of `bench.check` (200 of them: 50 MB), read from the disk and
compared in a fresh process that loads the index from its file; memory is the most that process
held, Python and libraries included. CPU seconds tell the cost on a machine that others use, too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from arena.nearcopies import SealedIndex, compare
from arena.nearcopies.parts import PARTS
from arena.nearcopies.sketches import Sketch
from arena.packages.layout import package_folders
from bench.packages import write_collection

KEY = b"k" * 40
OWN, SHARED = 280, 120
_POOL = 200_000


def synthetic_suite(tasks: int, seed: int = 0) -> Iterator[Sketch]:
    """Sketches as a suite of so many tasks would have them."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 2**63, _POOL, dtype=np.uint64)
    for number in range(tasks):
        parts = {}
        for part in PARTS:
            own = rng.integers(0, 2**63, OWN, dtype=np.uint64)
            shared = pool[np.minimum(rng.zipf(1.2, SHARED) - 1, _POOL - 1)]
            parts[part] = np.unique(np.concatenate([own, shared]))
        yield Sketch(number, parts)


def measure(index_file: Path, collection: Path) -> dict[str, float]:
    """In a process of its own: seconds to load, to compare all, to search alone; peak MB."""
    process = subprocess.run(
        [sys.executable, "-m", "bench.nearcopies.speed", str(index_file), str(collection)],
        check=True,
        stdout=subprocess.PIPE,
    )
    return dict(json.loads(process.stdout))


def _measured(index_file: Path, collection: Path) -> dict[str, float]:
    began = time.perf_counter()
    index = SealedIndex.read(index_file, KEY)
    loaded = time.perf_counter()
    roots = package_folders(collection)
    busy = time.process_time()
    compare(roots, [index])
    busy, compared = time.process_time() - busy, time.perf_counter()
    sketches = list(synthetic_suite(50, seed=1))
    searched = time.process_time()
    for sketch in sketches:
        index.compare(sketch)
    return {
        "load": loaded - began,
        "compare": compared - loaded,
        "cpu": busy,
        "query_ms": (time.process_time() - searched) / len(sketches) * 1000,
        "peak_mb": _peak_mb(),
    }


def _peak_mb() -> float:
    """The most this program held; what is told of processes also counts who started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6


def main(sizes: list[int], packages: int) -> None:
    """Prints a row a size."""
    print(
        f"{packages} packages; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"
    )
    print("  tasks  index MB  load s  compare s  search ms a package  peak MB")
    with tempfile.TemporaryDirectory() as made:
        collection = Path(made) / "collection"
        write_collection(collection, packages)
        for tasks in sizes:
            file = Path(made) / "index.npz"
            file.write_bytes(SealedIndex.build(synthetic_suite(tasks), KEY).to_bytes())
            size = file.stat().st_size / 1e6
            row = measure(file, collection)
            print(
                f"{tasks:7,} {size:9.1f} {row['load']:7.2f} {row['compare']:10.2f} "
                f"{row['cpu']:10.2f} "
                f"{row['query_ms']:20.2f} {row['peak_mb']:8.0f}",
                flush=True,
            )


if __name__ == "__main__":
    print(json.dumps(_measured(Path(sys.argv[1]), Path(sys.argv[2]))))
