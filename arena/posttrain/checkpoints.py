"""What the whole stages of a run left, from which another attempt of the same run goes on.

They are taken over only where every pin is the same as when they were made, and only as a whole: a
stage's result is put in its place once it is complete, and weights are checked by their digest.
What cannot be read counts as not made, and so does what came after it.
"""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Generic, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from arena.posttrain.model import Policy, digest_of
from arena.report import StageName
from arena.wholefiles import put_whole

log = logging.getLogger(__name__)

KEPT_SECONDS = 7 * 24 * 3600.0
"""How long the checkpoints of a run stay that no worker here took up again."""
_PINS = "pins.json"

Result = TypeVar("Result")


class Whole(BaseModel, Generic[Result]):
    """A stage that is whole. `weights`: sha256 of the trained weights after it, where it trains."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float
    result: Result
    weights: str | None = None


class Checkpoints:
    """The whole stages of one run, below `folder`, made under `pins`."""

    def __init__(self, folder: Path, pins: Mapping[str, str]) -> None:
        """Opens them; what other pins made is removed."""
        self._folder = folder
        self._complete = True
        content = json.dumps(dict(pins), indent=2, sort_keys=True).encode()
        if not _holds(folder / _PINS, content):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True, exist_ok=True)
            put_whole(folder / _PINS, content)

    def read(self, stage: StageName, kind: type[Whole[Result]]) -> Whole[Result] | None:
        """A stage as an earlier attempt made it whole, where that made all before it whole."""
        found = self._read(stage, kind) if self._complete else None
        self._complete = found is not None
        return found

    def read_trained(
        self, stage: StageName, kind: type[Whole[Result]], policy: Policy
    ) -> Whole[Result] | None:
        """The same of a stage that trains; `policy` then has the weights that it left."""
        found = self.read(stage, kind)
        weights = self._weights(found.weights) if found and found.weights else None
        self._complete = weights is not None
        if found is None or weights is None:
            return None
        policy.put_trained(weights)
        return found

    def write(self, stage: StageName, seconds: float, result: object) -> None:
        """Keeps a stage that is whole."""
        whole = Whole[object](seconds=seconds, result=result)
        put_whole(self._file(stage), whole.model_dump_json().encode())

    def write_trained(
        self, stage: StageName, seconds: float, result: object, policy: Policy
    ) -> None:
        """Keeps a stage that trains, with the weights that it left."""
        weights = policy.trained_copy()
        digest = digest_of(weights)
        with tempfile.TemporaryDirectory(dir=self._folder) as parts:
            part = Path(parts) / "weights"
            save_file({name: t.contiguous() for name, t in weights.items()}, part)
            part.replace(self._weights_file(digest))
        whole = Whole[object](seconds=seconds, result=result, weights=digest)
        put_whole(self._file(stage), whole.model_dump_json().encode())

    def _read(self, stage: StageName, kind: type[Whole[Result]]) -> Whole[Result] | None:
        try:
            return kind.model_validate_json(self._file(stage).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as exc:
            log.warning("the checkpoint of %s is not read: %s", stage, type(exc).__name__)
            return None

    def _weights(self, digest: str) -> dict[str, torch.Tensor] | None:
        try:
            weights = load_file(self._weights_file(digest))
        except (OSError, SafetensorError) as exc:
            log.warning("the weights of a checkpoint are not read: %s", type(exc).__name__)
            return None
        return weights if digest_of(weights) == digest else None

    def _file(self, stage: StageName) -> Path:
        return self._folder / f"{stage}.json"

    def _weights_file(self, digest: str) -> Path:
        return self._folder / f"{digest}.safetensors"


def sweep(root: Path) -> int:
    """Removes the folders below `root` in which nothing was put for long; returns how many."""
    oldest = time.time() - KEPT_SECONDS
    doomed = [folder for folder in root.glob("*") if _changed(folder) < oldest]
    for folder in doomed:
        shutil.rmtree(folder, ignore_errors=True)
    return len(doomed)


def _changed(folder: Path) -> float:
    """When something was last put into it; inf where another worker removed it meanwhile."""
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _holds(file: Path, content: bytes) -> bool:
    try:
        return file.read_bytes() == content
    except OSError:
        return False
