"""What the starting kit holds, found by its folders."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KIT = ROOT / "starting-kit"
TEMPLATE = KIT / "template"
EXAMPLES = KIT / "examples"
WRONG = Path(__file__).parent / "wrong"

NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/task.md"))


def generator(name: str) -> Path:
    """The script that writes an example's seed data."""
    return KIT / "generators" / f"{name.replace('-', '_')}.py"


def generate(name: str, out: Path, seed: int | None = None) -> dict[str, bytes]:
    """Run an example's generator into `out`, with another seed if one is given; the files."""
    script = generator(name)
    if seed is None:
        command = [sys.executable, str(script), str(out)]
    else:
        code = (
            f"import sys; sys.path.insert(0, {str(script.parent)!r}); "
            f"import {script.stem} as m; m.SEED = {seed}; m.main()"
        )
        command = [sys.executable, "-c", code, str(out)]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    return contents(out)


def contents(folder: Path) -> dict[str, bytes]:
    """The files below a folder by their paths relative to it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def wrong_solutions(name: str) -> dict[str, str]:
    """The plausible wrong solutions of an example, by what is wrong with them."""
    return {path.stem: path.read_text(encoding="utf-8") for path in (WRONG / name).glob("*.sh")}
