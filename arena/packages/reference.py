"""The fields of a `task.md`, as the page `docs/spec/fields.md`: written from the schema itself."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from arena.packages.schema import (
    DOMAIN_ALIASES,
    EXTENSIONS,
    AgentSection,
    Domain,
    EnvironmentSection,
    FrontMatter,
    TaskMetadata,
    VerifierSection,
)

_SECTIONS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("", FrontMatter),
    ("metadata.", TaskMetadata),
    ("agent.", AgentSection),
    ("verifier.", VerifierSection),
    ("environment.", EnvironmentSection),
)
_TYPES = {"string": "text", "number": "number", "integer": "whole number", "boolean": "true, false"}


def as_markdown() -> str:
    """The whole page."""
    lines = [
        "# The fields of task.md",
        "",
        "<!-- Written by `python -m arena.packages.reference`; edit arena/packages/schema.py. -->",
        "",
        "Required at the top: `version`, `metadata`, `agent`, `verifier`, and `environment` (newer "
        "spelling `sandbox`; where both stand they must agree). A section may be empty: its "
        "fields then have their defaults.",
        "",
        "| field | type and range | default | example | meaning |",
        "|---|---|---|---|---|",
    ]
    for prefix, model in _SECTIONS:
        schema = model.model_json_schema()
        for name, field in schema["properties"].items():
            if prefix or "$ref" not in field:
                required = name in schema.get("required", ())
                lines.append(_row(prefix + name, field, required, schema.get("$defs", {})))
    lines += ["", "Kept, and not read here: " + ", ".join(f"`{key}`" for key in _kept()) + "."]
    lines += ["", "## Domains", "", "| domain | words that mean it too |", "|---|---|"]
    for domain in Domain:
        words = sorted(word for word, meant in DOMAIN_ALIASES.items() if meant is domain)
        lines.append(f"| `{domain}` | {', '.join(words)} |")
    lines += ["", "Case, blanks and `_` don't matter. Another word is refused (TP003)."]
    return "\n".join(lines) + "\n"


def _kept() -> list[str]:
    return [key for key in EXTENSIONS if key not in FrontMatter.model_fields]


def _row(name: str, field: dict[str, Any], required: bool, definitions: dict[str, Any]) -> str:
    default = "required" if required else _default(field.get("default"))
    example = f"`{field['examples'][0]}`" if field.get("examples") else ""
    return (
        f"| `{name}` | {_kind(field, definitions)} | {default} | {example} "
        f"| {field.get('description', '')} |"
    )


def _default(value: object) -> str:
    if value is None or value == []:
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, int | float) else f"`{value}`"


def _kind(field: dict[str, Any], definitions: dict[str, Any]) -> str:
    """A field's type and range in words."""
    if "anyOf" in field:
        return " or ".join(_kind(f, definitions) for f in field["anyOf"] if f.get("type") != "null")
    if "allOf" in field or "$ref" in field:
        return "one of the domains below"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if field.get("type") == "array":
        return "list of texts"
    words = _TYPES[field["type"]]
    if "exclusiveMinimum" in field:
        words += f" above {field['exclusiveMinimum']:g}"
    if "maxLength" in field:
        words += f", 1 to {field['maxLength']} characters"
    elif field.get("minLength"):
        words += ", not empty"
    return words


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_markdown())
