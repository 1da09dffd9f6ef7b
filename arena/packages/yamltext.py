"""YAML from strangers: safe types, positions of every key, and limits on everything that can grow.

PyYAML does the parsing. This module refuses what a front matter never needs and an attacker likes:
aliases (a few lines expand to gigabytes), deep nesting, very many nodes, duplicate keys.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import yaml

from arena.packages.findings import shown

MAX_BYTES = 256 * 1024
MAX_NODES = 10_000
MAX_DEPTH = 24
MAX_NUMBER = 100

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_ODD_LINE_ENDS = re.compile("[\x85\u2028\u2029]")
_PLAIN_TAGS = frozenset({"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})
_NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})

KeyPath = tuple[str | int, ...]


class YamlError(ValueError):
    """Text that is no YAML we read. `line` is 1-based within the text given."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class YamlText(NamedTuple):
    """Parsed YAML: the data, and the line (1-based) where each key or item stands."""

    data: Any
    lines: dict[KeyPath, int]


class _Loader(yaml.CSafeLoader):
    """PyYAML's safe loader, with timestamps left as the text that was written."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load_yaml(text: str) -> YamlText:
    """Parses one YAML document.

    Raises:
        YamlError: not YAML, or beyond the limits of this module; with the line.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise YamlError(f"YAML of more than {MAX_BYTES // 1024} KiB")
    # libyaml takes these for line ends, and no editor does: lines would be counted wrong
    text = _ODD_LINE_ENDS.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))
    try:
        _check_events(text)
        node = yaml.compose(text, Loader=_Loader)
        lines: dict[KeyPath, int] = {}
        data = None if node is None else _construct(_Loader(""), node, (), lines)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        # libyaml puts what is missing at the end on a line after the last
        line = min(mark.line + 1, text.rstrip("\n").count("\n") + 1) if mark else None
        raise YamlError(exc.problem or "not valid YAML", line) from exc
    except yaml.reader.ReaderError as exc:
        before = text.encode("utf-8", "surrogatepass")[: exc.position]
        raise YamlError(str(exc).splitlines()[0], before.count(b"\n") + 1) from exc
    except yaml.YAMLError as exc:
        raise YamlError(str(exc).splitlines()[0]) from exc
    except ValueError as exc:
        if isinstance(exc, YamlError):
            raise
        raise YamlError(str(exc)) from exc
    return YamlText(data, lines)


def _check_events(text: str) -> None:
    """Walks the parse events before anything is built of them."""
    depth = nodes = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.AliasEvent):
            raise YamlError("aliases (*name) are not allowed", line)
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            nodes += 1
        if isinstance(event, yaml.ScalarEvent) and _HALF_CHARACTER.search(event.value):
            raise YamlError("an escape stands for half a character", line)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise YamlError(f"nested deeper than {MAX_DEPTH} levels", line)
        if nodes > MAX_NODES:
            raise YamlError(f"more than {MAX_NODES:,} values", line)


def _construct(loader: _Loader, node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int]) -> Any:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.CollectionNode) and node.tag not in _PLAIN_TAGS:
        raise YamlError(f"the tag {node.tag} is not allowed", node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _construct_mapping(loader, node, path, lines)
    if isinstance(node, yaml.SequenceNode):
        return [
            _construct(loader, item, (*path, index), lines) for index, item in enumerate(node.value)
        ]
    return _construct_scalar(loader, node)


def _construct_scalar(loader: _Loader, node: yaml.Node) -> Any:
    line = node.start_mark.line + 1
    if node.tag in _NUMBERS and len(node.value) > MAX_NUMBER:
        raise YamlError(f"a number of more than {MAX_NUMBER} characters", line)
    try:
        return loader.construct_object(node)
    except (ValueError, LookupError, AttributeError, ArithmeticError) as exc:
        # PyYAML trusts an explicit tag: `!!int ""` and `!!timestamp x` fail deep inside it
        kind = node.tag.rpartition(":")[2]
        raise YamlError(f"{shown(node.value)} is no {kind}", line) from exc


def _construct_mapping(
    loader: _Loader, node: yaml.MappingNode, path: KeyPath, lines: dict[KeyPath, int]
) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise YamlError("a key must be a plain word", line)
        key = key_node.value
        if key in mapping:
            raise YamlError(f"the key {shown(key)} stands twice", line)
        lines[(*path, key)] = line
        mapping[key] = _construct(loader, value_node, (*path, key), lines)
    return mapping
