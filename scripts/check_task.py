#!/usr/bin/env python3
"""Checks task packages from a clone: `python3 scripts/check_task.py PATH...`, as `arena check`.

No key, no network, the arena's own checks. Exit 0: no error; 1: errors; 2: wrong usage, or
something is missing, which it then says how to mend.
"""

import os
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN = ROOT / ".venv-check"
REQUIREMENTS = ROOT / "requirements-check.txt"


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - this file alone is read by an older one
        sys.stderr.write("Python 3.11 or newer is needed: python3.11 scripts/check_task.py PATH\n")
        return 2
    sys.path.insert(0, str(ROOT))
    try:
        from arena.cli import main as arena
    except ModuleNotFoundError as exc:
        return _elsewhere(exc.name or "")
    return arena(["check", *sys.argv[1:]])


def _elsewhere(missing: str) -> int:
    """Goes on in an environment of this clone that has what is missing, or says how to make one."""
    for environment in (ROOT / ".venv", OWN):
        python = environment / "bin" / "python"
        if python.exists() and Path(sys.prefix) != environment:
            os.execv(python, [str(python), *sys.argv])  # noqa: S606
    make = shlex.join([sys.executable, "-m", "venv", str(OWN)])
    fill = shlex.join([str(OWN / "bin" / "pip"), "install", "-q", "-r", str(REQUIREMENTS)])
    sys.stderr.write(
        f"The Python package {missing} is missing. Mend it with:\n  {make} && {fill}\n"
    )
    return 2


if __name__ == "__main__":
    sys.exit(main())
