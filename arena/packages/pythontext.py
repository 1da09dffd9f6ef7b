"""Python files as syntax trees: valid or not, and what their tests and calls look like.

The arena's own Python may be older than the one in a package's image, so a file that `ast` refuses
counts as invalid only where tree-sitter's grammar, which knows newer syntax, refuses it too.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import cached_property, lru_cache

import tree_sitter_python
from tree_sitter import Language

from arena.packages.shell import Problem
from arena.packages.trees import Allowance

MAX_CONSTANT = 2_000


class PythonFile:
    """One file, parsed when it is first asked something."""

    def __init__(self, text: str, allowance: Allowance | None = None) -> None:
        self.text = text
        self.allowance = allowance or Allowance()
        self._is_indented_wrongly = False

    @cached_property
    def _parsed(self) -> ast.Module | Problem:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(self.text)
        except SyntaxError as exc:
            self._is_indented_wrongly = isinstance(exc, IndentationError)
            return Problem(exc.msg or "invalid syntax", exc.lineno or 1)
        except (ValueError, RecursionError, MemoryError):
            return Problem("it is nested too deeply to be read", 1)

    @property
    def tree(self) -> ast.Module | None:
        """The syntax tree; None where this Python can't read it."""
        return self._parsed if isinstance(self._parsed, ast.Module) else None

    def problem(self) -> Problem | None:
        """Why this is no valid Python, or None."""
        if isinstance(self._parsed, ast.Module):
            return None
        if self._is_indented_wrongly:
            return self._parsed  # wrong in every Python, and tree-sitter is lenient about it
        newer = self.allowance.parse("tree_sitter_python", _language(), self.text)
        return self._parsed if newer is None or newer.has_error else None

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree, walked once for all rules; empty where there is none."""
        found: list[ast.AST] = [self.tree] if self.tree else []
        for node in found:  # it grows; ast.walk does the same in twice the time
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, list):
                    found += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                    found.append(value)
        return found

    @cached_property
    def constants(self) -> dict[str, str]:
        """Names that the file binds once, to one text.

        A long text is none that a command or an address is made of, and could be used very often.
        """
        bound: dict[str, list[str | None]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.setdefault(node.id, []).append(None)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                value = node.value.value
                for target in node.targets:
                    if isinstance(target, ast.Name) and isinstance(value, str):
                        bound.setdefault(target.id, []).append(value[:MAX_CONSTANT])
        # an assignment is seen twice: as a whole, and as the name that it stores
        return {n: t for n, v in bound.items() if len(v) == 2 for t in v if t is not None}

    @cached_property
    def calls(self) -> list[tuple[str, ast.Call]]:
        """Every call with the full name of what is called, imports resolved."""
        names = dict(_imported(self.nodes))
        return [
            (_resolved(dotted(node.func), names), node)
            for node in self.nodes
            if isinstance(node, ast.Call)
        ]

    def text_of(self, node: ast.expr | None) -> str | None:
        """The text an expression stands for; an f-string's unknown parts become `$`."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self.constants.get(node.id)
        if isinstance(node, ast.JoinedStr):
            return "".join(map(self._part, node.values))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left = self.text_of(node.left) if not isinstance(node.left, ast.BinOp) else None
            return None if left is None else left + (self.text_of(node.right) or "$")
        return None

    def _part(self, node: ast.expr) -> str:
        """A part of an f-string."""
        if isinstance(node, ast.FormattedValue):
            return (self.text_of(node.value) if isinstance(node.value, ast.Name) else None) or "$"
        return str(node.value) if isinstance(node, ast.Constant) else "$"


def _imported(walked: list[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in walked:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    yield alias.asname, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def dotted(node: ast.expr) -> str:
    """The name `a.b.c` of an expression; empty, or with a leading dot, where it is no plain one."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return "." + ".".join(reversed(parts)) if parts else ""
    return ".".join([node.id, *reversed(parts)])


def _resolved(name: str, names: dict[str, str]) -> str:
    first, _, rest = name.partition(".")
    return ".".join(part for part in (names.get(first, first), rest) if part)


@lru_cache(1)
def _language() -> Language:
    return Language(tree_sitter_python.language())
