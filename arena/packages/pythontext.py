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
        """Names that the module binds to one text at its top level.

        A long text is none that a command or an address is made of, and could be used very often.
        """
        found: dict[str, str] = {}
        for node in self.tree.body if self.tree else []:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                for target in node.targets:
                    text = node.value.value
                    if isinstance(target, ast.Name) and isinstance(text, str):
                        found[target.id] = text[:MAX_CONSTANT]
        return found

    @cached_property
    def calls(self) -> list[tuple[str, ast.Call]]:
        """Every call with the full name of what is called, imports resolved."""
        names = dict(_imported(self.nodes))
        return [
            (_resolved(_dotted(node.func), names), node)
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
            return "".join(
                str(v.value) if isinstance(v, ast.Constant) else "$" for v in node.values
            )
        return None


def _imported(walked: list[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in walked:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    yield alias.asname, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _dotted(node: ast.expr) -> str:
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
