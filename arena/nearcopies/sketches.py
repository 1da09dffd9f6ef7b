"""A package's features as keyed hashes, and files of them."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.nearcopies.parts import PARTS, PackageFeatures, Part

Hashes = NDArray[np.uint64]


class Sketch(NamedTuple):
    """A package's features as keyed hashes: its content's, and those of each part in order."""

    content: int
    parts: dict[Part, Hashes]


class Sketcher:
    """Hashes features under a key."""

    def __init__(self, key: bytes) -> None:
        # a key of its own for each part and use, whatever the secret's length
        uses = (*PARTS, "content", "sign")
        self._keys = {
            use: hmac.digest(key, f"near copies {use}".encode(), "sha256") for use in uses
        }

    def __call__(self, package: PackageFeatures) -> Sketch:
        parts = {
            part: np.unique(np.fromiter(self._hashes(part, package.texts(part)), np.uint64))
            for part in PARTS
        }
        return Sketch(self.hash("content", package.content), parts)

    def hash(self, use: str, text: str) -> int:
        """64 bits of the keyed hash of a text."""
        return next(self._hashes(use, [text]))

    def _hashes(self, use: str, texts: Iterable[str]) -> Iterator[int]:
        keyed = hashlib.blake2b(key=self._keys[use], digest_size=8)
        for text in texts:
            hashed = keyed.copy()
            hashed.update(text.encode("utf-8", "surrogatepass"))
            yield int.from_bytes(hashed.digest(), "little")

    def sign(self, arrays: dict[str, NDArray[Any]]) -> bytes:
        """A signature over named arrays."""
        signed = hashlib.blake2b(key=self._keys["sign"], digest_size=32)
        for name in sorted(arrays):
            signed.update(f"{name}:{arrays[name].dtype}:{arrays[name].shape}".encode())
            signed.update(np.ascontiguousarray(arrays[name]).data)
        return signed.digest()


def to_bytes(named: Sequence[tuple[str, Sketch]]) -> bytes:
    """Packages' sketches, by their names, as an uncompressed `.npz`."""
    arrays: dict[str, NDArray[Any]] = {
        "names": np.frombuffer(json.dumps([name for name, _ in named]).encode(), np.uint8),
        "contents": np.array([sketch.content for _, sketch in named], np.uint64),
    }
    for part in PARTS:
        hashes = [sketch.parts[part] for _, sketch in named]
        arrays[f"{part}_counts"] = np.array([len(h) for h in hashes], np.int64)
        arrays[part] = np.concatenate([*hashes, np.empty(0, np.uint64)])
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()


def from_bytes(content: bytes) -> list[tuple[str, Sketch]]:
    """Reads what `to_bytes` wrote.

    Raises:
        ValueError: it is something else.
    """
    arrays = read_arrays(io.BytesIO(content))
    try:
        names = json.loads(arrays["names"].tobytes())
        contents = arrays["contents"].tolist()
        parts = {
            part: np.split(arrays[part], np.cumsum(arrays[f"{part}_counts"])[:-1]) for part in PARTS
        }
    except KeyError as exc:
        raise ValueError("these are no sketches") from exc
    return [
        (name, Sketch(contents[i], {part: parts[part][i] for part in PARTS}))
        for i, name in enumerate(names)
    ]


def read_arrays(file: Path | io.BytesIO) -> dict[str, NDArray[Any]]:
    """The arrays of an `.npz`.

    Raises:
        ValueError: it is none, or damaged.
    """
    try:
        with np.load(file, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files}
    except Exception as exc:  # on damage, zipfile and numpy raise what they come upon
        raise ValueError("this is no file of arrays") from exc
    if not all(isinstance(array, np.ndarray) for array in found.values()):
        raise ValueError("this is no file of arrays")
    return found
