"""The reward that a verifier wrote: one number in [0, 1], or the reason why it is none.

Whatever is not plainly such a number is refused: a lenient reading turns a broken verifier into a
score.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

MAX_BYTES = 64 * 1024
TEXT, JSON = "reward.txt", "reward.json"

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SAME = 1e-9


class InvalidReward(Exception):
    """No valid reward was written; the message says what was found instead."""


def read_reward(files: Mapping[str, bytes | None]) -> float:
    """The reward in the files of /logs/verifier; None stands for what is not a regular file."""
    found = [
        parse(_content(name, files[name]))
        for name, parse in ((TEXT, parse_text), (JSON, parse_json))
        if name in files
    ]
    values = [value for value in found if value is not None]
    if not values:
        raise InvalidReward(f"the verifier wrote no {TEXT} and no reward in {JSON}")
    if len(values) == 2 and not math.isclose(values[0], values[1], rel_tol=0, abs_tol=_SAME):
        raise InvalidReward(f"{TEXT} says {values[0]:g}, {JSON} says {values[1]:g}")
    return values[0]


def parse_text(text: str) -> float:
    """The number in reward.txt."""
    stripped = text.strip()
    if not _NUMBER.fullmatch(stripped):
        raise InvalidReward(f"{TEXT} holds {_shown(stripped)}, not one number")
    return _in_range(TEXT, float(stripped))


def parse_json(text: str) -> float | None:
    """The reward in reward.json; None where it holds several numbers and none named reward."""
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidReward(f"{JSON} is not valid JSON: {error}") from error
    if not isinstance(data, dict) or not data:
        raise InvalidReward(f"{JSON} holds {_shown(text.strip())}, not an object with numbers")
    if "reward" in data:
        return _in_range(JSON, _number("reward", data["reward"]))
    numbers = [_number(name, value) for name, value in data.items()]
    return _in_range(JSON, numbers[0]) if len(numbers) == 1 else None


def _content(name: str, data: bytes | None) -> str:
    if data is None:
        raise InvalidReward(f"{name} is not a regular file")
    if len(data) > MAX_BYTES:
        raise InvalidReward(f"{name} is larger than {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidReward(f"{name} is not UTF-8 text") from error


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidReward(f"{JSON} has {name}: {_shown(json.dumps(value))}, not a number")
    try:
        return float(value)
    except OverflowError as error:
        raise InvalidReward(f"{JSON} has a {name} that is no number in [0, 1]") from error


def _in_range(name: str, value: float) -> float:
    if not 0.0 <= value <= 1.0:  # NaN and the infinities fail this too
        raise InvalidReward(f"{name} says {value:g}, which is not in [0, 1]")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
