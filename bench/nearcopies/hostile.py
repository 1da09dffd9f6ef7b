"""What comparing costs whoever is sent a collection made to be slow.

    python -m bench.nearcopies hostile [--packages 200]

Each package is as large as one may be of a collection of 256 MiB, all of it code that reads slowly:
names and operators by turns. Told is how much of it is compared, and in how much time.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from arena.nearcopies import compare, open_index
from bench.nearcopies import originals
from bench.nearcopies.originals import Package

COLLECTION = 256 * 1024 * 1024
_FILE = 200 * 1024


def padded(package: Package, size: int) -> Package:
    """A package with `size` bytes of slow code before what it does, in oracle and verifier."""
    lines = "".join(f"a{number}*b-c\n" for number in range(_FILE))[:_FILE]
    more = {
        f"{part}/a{number:03}.py": lines
        for part in ("oracle", "verifier")
        for number in range(size // 2 // _FILE)
    }
    return {**package, **more}


def main(packages: int) -> None:
    """Prints what was compared of the collection."""
    known = list(originals.originals().values())
    with tempfile.TemporaryDirectory() as made:
        tasks = [originals.write(one, Path(made) / f"task-{n}") for n, one in enumerate(known)]
        roots = [
            originals.write(
                padded(known[n % len(known)], COLLECTION // packages), Path(made) / f"mine-{n:03}"
            )
            for n in range(packages)
        ]
        suite = open_index(tasks)
        began = time.process_time()
        found = compare(roots, [suite])
        spent = time.process_time() - began
    print(
        f"{packages} packages, {COLLECTION / 2**20:.0f} MiB: {found.compared / 2**20:.1f} MiB "
        f"compared in {spent:.0f} s of CPU; {len(found.copies)} copies, {len(found.cut)} cut"
    )
