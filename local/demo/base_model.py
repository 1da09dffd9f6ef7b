"""The demo's base model, made once and kept.

    python -m local.demo.base_model OUT

It takes a minute or two on two cores. It is then published on the local hub, so that the arena
fetches it as it fetches any model. It comes out good enough to be taught and poor enough to need
it.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from local.demo import pretraining as pretraining_module
from local.demo.pretraining import Pretraining, pretrain, say, training_text

MARKER = "generator.json"


def build(out: Path, pretraining: Pretraining | None = None) -> Path:
    """Makes the base model at `out`, unless what is there came from the same generator.

    Concurrent callers wait for the first and take what it made: two would take twice as long.
    """
    pretraining = pretraining or Pretraining()
    marker = {"generator": generator_digest(pretraining), "pretraining": asdict(pretraining)}
    with _alone(out):
        if _is_current(out, marker):
            say(f"{out} is up to date")
        else:
            _replace(out, pretraining, marker)
    return out


def generator_digest(pretraining: Pretraining) -> str:
    """Changes when the text, the parameters or the code that trains on them do."""
    digest = hashlib.sha256(json.dumps(asdict(pretraining), sort_keys=True).encode())
    digest.update(b"\0" + Path(pretraining_module.__file__).read_bytes())
    for document in training_text(pretraining):
        digest.update(b"\0" + document.encode())
    return digest.hexdigest()


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    out.parent.mkdir(parents=True, exist_ok=True)
    with (out.parent / f".{out.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_current(out: Path, marker: dict[str, Any]) -> bool:
    try:
        return bool(json.loads((out / MARKER).read_text()) == marker)
    except (FileNotFoundError, ValueError):
        return False


def _replace(out: Path, pretraining: Pretraining, marker: dict[str, Any]) -> None:
    """Builds beside `out`, which is whole at any time but for the moment between two renames."""
    aside, outdated = (out.with_name(f".{out.name}.{state}") for state in ("new", "old"))
    for left_by_a_killed_build in (aside, outdated):
        shutil.rmtree(left_by_a_killed_build, ignore_errors=True)
    aside.mkdir()
    pretrain(aside, pretraining)
    (aside / MARKER).write_text(json.dumps(marker, indent=1) + "\n")
    if out.exists():
        out.rename(outdated)
    aside.rename(out)
    shutil.rmtree(outdated, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    build(parser.parse_args().out)


if __name__ == "__main__":
    main()
