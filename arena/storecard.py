"""The results dataset's card: what it is, and every kind's columns.

The Hub's viewer and `datasets.load_dataset` read each kind as a config with declared features,
whatever is null in it.
"""

from __future__ import annotations

import types
import typing
from typing import Any

import yaml
from pydantic import BaseModel

from arena.records import KINDS

_TYPES = {
    "str": "string",
    "bytes": "string",  # packed in memory alone
    "int": "int64",
    "float": "float64",
    "bool": "bool",
    "datetime": "string",
}


def dataset_card() -> str:
    """The results dataset's README: what it is, and every kind's columns."""
    front_matter = {
        "license": "cc-by-4.0",
        "pretty_name": "PostTrain Arena results",
        "configs": [{"config_name": kind, "data_files": f"data/{kind}/*.jsonl"} for kind in KINDS],
        "dataset_info": [
            {"config_name": kind, "features": _features(model)} for kind, model in KINDS.items()
        ],
    }
    return (
        f"---\n{yaml.safe_dump(front_matter, sort_keys=False)}---\n\n"
        "# PostTrain Arena results\n\n"
        "Every record of the arena, as it was made: nothing here is ever edited. One config a\n"
        "kind; `seq` orders records over all kinds.\n"
    )


def _features(model: type[BaseModel]) -> list[dict[str, Any]]:
    hints = typing.get_type_hints(model)
    return [
        {"name": field.alias or name} | _column(hints[name])
        for name, field in model.model_fields.items()
    ]


def _column(hint: Any) -> dict[str, Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        return _column(next(a for a in arguments if a is not type(None)))
    if origin is list:
        item = arguments[0]
        is_part = isinstance(item, type) and issubclass(item, BaseModel)
        return {"list": _features(item) if is_part else _column(item)["dtype"]}
    if origin is typing.Literal:
        return {"dtype": "string"}
    return {"dtype": _TYPES[hint.__name__]}
