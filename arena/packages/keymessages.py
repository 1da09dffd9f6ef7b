"""What is wrong with a key of the front matter, in an author's words instead of a parser's."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from arena.packages.findings import shown
from arena.packages.schema import FrontMatter
from arena.packages.yamltext import KeyPath

_REQUIRED = "Required: version, metadata (author_hub, category), agent, verifier, environment."
_AGREE = "Make them agree; docs/spec/task-package.md says what each key means."
_MEANT = {
    "dict_type": "a mapping of keys is meant", "model_type": "a mapping of keys is meant",
    "model_attributes_type": "a mapping of keys is meant",
    "string_type": "a text is meant: put it in quotes",
    "tuple_type": "a list is meant", "list_type": "a list is meant",
    "float_type": "a number is meant, without a unit",
    "float_parsing": "a number is meant, without a unit",
    "finite_number": "a finite number is meant",
    "int_type": "a whole number is meant", "int_from_float": "a whole number is meant",
    "int_parsing": "a whole number is meant, without a unit",
    "int_parsing_size": "a smaller number is meant",
    "bool_type": "true or false is meant", "bool_parsing": "true or false is meant",
    "string_too_short": "it must not be empty",
}  # fmt: skip
_LIMITS = {
    "greater_than": ("gt", "it must be more than {}"),
    "greater_than_equal": ("ge", "it must be at least {}"),
    "less_than": ("lt", "it must be less than {}"),
    "less_than_equal": ("le", "it must be at most {}"),
    "string_too_long": ("max_length", "it may have {} characters"),
}


class KeyMessage(NamedTuple):
    """What is wrong with the value that was found, and how to mend it."""

    message: str
    hint: str


def key_message(problem: dict[str, Any], path: KeyPath) -> KeyMessage:
    """The message for one of pydantic's problems at `path`."""
    name = _name(path)
    if problem["type"] == "missing":
        return KeyMessage(f"the key {name} is missing", _REQUIRED)
    field = _field(path)
    if problem["type"] == "value_error":
        said = str(problem["msg"]).removeprefix("Value error, ")
        joined = f"{name} {said}" if said.startswith("is ") else f"{name}: {said}"
        return KeyMessage(joined if path else said, _hint(name, field) if field else _AGREE)
    verb = "holds" if path and isinstance(path[-1], int) else "is"
    value = "empty" if problem["input"] is None else shown(problem["input"])
    found = f"{name} {verb} {value}"
    return KeyMessage(f"{found}, and {_meant(problem)}", _hint(name, field))


def _meant(problem: dict[str, Any]) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "literal_error":
        return f"allowed are {context['expected']}"
    if kind in _LIMITS:
        key, text = _LIMITS[kind]
        return text.format(f"{context[key]:g}")
    return _MEANT.get(kind, str(problem["msg"]))


def _hint(name: str, field: FieldInfo | None) -> str:
    """What the field is for, and how it is written."""
    if field is None or not field.description:
        return f"Write `{name}:` with its keys below, each indented by two blanks."
    example = (
        f" For example `{name.rpartition('.')[2]}: {field.examples[0]}`." if field.examples else ""
    )
    return f"{name}: {field.description}{example}"


def _name(path: KeyPath) -> str:
    """The key's name; the place in a list is left out, since the line and the value tell it."""
    return ".".join(str(part) for part in path if isinstance(part, str))


def _field(path: KeyPath) -> FieldInfo | None:
    """The field that a path leads to, None for a section."""
    model: Any = FrontMatter
    field: FieldInfo | None = None
    for part in path:
        if not isinstance(part, str):
            break
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            return None
        field = next((f for n, f in model.model_fields.items() if part in _spellings(n, f)), None)
        if field is None:
            return None
        model = field.annotation
    return field if field and field.description else None


def _spellings(name: str, field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return [str(choice) for choice in alias.choices]
    return [alias if isinstance(alias, str) else name]
