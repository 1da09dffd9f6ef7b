"""What tests of the corpus of near copies share."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

from arena.packages import check_package
from bench.nearcopies import originals
from bench.nearcopies.originals import Package


def errors(package: Package, root: Path) -> list[str]:
    """What the check of a package refuses."""
    report = check_package(originals.write(package, root))
    return [f"{one.code} {one.message}" for one in report.findings if one.severity == "error"]


def solve(package: Package, root: Path) -> None:
    """Runs a synthetic package's oracle below `root`, then its checks."""
    there = {path: text.replace("/root", str(root)) for path, text in package.items()}
    moved = {path.removeprefix("environment/"): text for path, text in there.items()}
    originals.write(moved, root)
    if (root / "build.py").exists():
        subprocess.run([sys.executable, root / "build.py"], check=True)
    subprocess.run(["bash", root / "oracle/solve.sh"], check=True)
    checks: dict[str, object] = {}
    exec(moved["verifier/test_outputs.py"], checks)
    scratch = root / "scratch"
    scratch.mkdir()
    for name, check in list(checks.items()):
        if name.startswith("test_") and callable(check):
            check(*[scratch] * len(inspect.signature(check).parameters))
