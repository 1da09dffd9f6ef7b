"""Tests that assert nothing: those that a test runner would collect, and that cannot fail.

A fixture, a helper, a method of a protocol or of a base class has a name like a test's and is none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from arena.packages.pythontext import PythonFile, dotted

Function = ast.FunctionDef | ast.AsyncFunctionDef


class EmptyTest(NamedTuple):
    """A test that can't fail: its name, and the line (1-based)."""

    name: str
    line: int


def empty_tests(file: PythonFile) -> Iterator[EmptyTest]:
    """The tests of a file that can neither fail nor call anything that does."""
    if file.tree is None:
        return
    used = _used_names(file.tree)
    for function in _collected(file.tree, used):
        is_test = function.name.startswith("test") and function.name not in used
        if is_test and _is_plain(function) and all(map(_does_nothing, function.body)):
            yield EmptyTest(function.name, function.lineno)


def _used_names(tree: ast.Module) -> set[str]:
    """What the file itself calls, hands on or inherits from."""
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    }


def _collected(tree: ast.Module, used: set[str]) -> Iterator[Function]:
    """Functions of the module, and the methods of its test classes that are no base of another."""
    pending: list[ast.Module | ast.ClassDef] = [tree]
    while pending:
        for node in pending.pop(0).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node
            elif isinstance(node, ast.ClassDef) and _is_test_class(node) and node.name not in used:
                pending.append(node)


def _is_test_class(node: ast.ClassDef) -> bool:
    """A class that a runner collects; in one with a base of its own, `pass` may take a test out."""
    bases = [dotted(base) for base in node.bases]
    is_unittest = any(base.endswith("TestCase") for base in bases)
    return is_unittest or ("Test" in node.name and not bases)


def _is_plain(function: Function) -> bool:
    """Whether nothing else decides over the test: an unknown decorator may do anything."""
    decorators = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
    names = [dotted(decorator) for decorator in decorators]
    return all("mark." in name or "skip" in name.lower() for name in names)


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    if isinstance(statement, ast.Return | ast.Expr):
        return statement.value is None or _is_fixed(statement.value) or _says(statement.value)
    if isinstance(statement, ast.Assert):
        return _is_true(statement.test)
    if isinstance(statement, ast.Assign):
        return _is_fixed(statement.value)
    if isinstance(statement, ast.If) and not statement.orelse:
        return _is_fixed(statement.test) and all(map(_does_nothing, statement.body))
    return isinstance(statement, ast.Try) and _is_swallowed(statement)


def _is_swallowed(statement: ast.Try) -> bool:
    """Whether every failure of a `try` is caught and nothing comes of it."""
    rest = [*(s for handler in statement.handlers for s in handler.body), *statement.finalbody]
    caught = {dotted(h.type) if h.type else "BaseException" for h in statement.handlers}
    return "BaseException" in caught and not statement.orelse and all(map(_does_nothing, rest))


def _is_fixed(node: ast.expr) -> bool:
    """Whether an expression is made of constants alone."""
    fixed = (ast.Constant, ast.Compare, ast.cmpop, ast.UnaryOp, ast.unaryop, ast.BoolOp, ast.boolop,
             ast.Tuple, ast.List, ast.Set, ast.Dict, ast.expr_context)  # fmt: skip
    return all(isinstance(part, fixed) for part in ast.walk(node))


def _is_true(node: ast.expr) -> bool:
    """Whether a fixed expression holds, as far as one can see without running it."""
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return isinstance(node.operand, ast.Constant) and not node.operand.value
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return isinstance(node.values[-1], ast.Constant) and bool(node.values[-1].value)
    if isinstance(node, ast.Compare):
        return isinstance(node.ops[0], ast.Eq) and _are_same([node.left, *node.comparators])
    return isinstance(node, ast.Tuple) and bool(node.elts)


def _are_same(parts: list[ast.expr]) -> bool:
    """Whether two expressions are the same constant; of more than two nothing is said."""
    values = [part.value for part in parts if isinstance(part, ast.Constant)]
    return len(parts) == len(values) == 2 and values[0] == values[1]


def _says(node: ast.expr) -> bool:
    """A call that prints constants, or asserts them: `self.assertTrue(True)`."""
    if not isinstance(node, ast.Call) or not all(map(_is_fixed, node.args)):
        return False
    name = dotted(node.func).rpartition(".")[2]
    if name in {"assertEqual", "assertIs"} and len(node.args) == 2:
        return _are_same(node.args)
    return name == "print" or (name == "assertTrue" and bool(node.args) and _is_true(node.args[0]))
