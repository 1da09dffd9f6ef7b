"""Tests that a script defines and never runs: its exit status then says nothing about the work.

Only what is certain counts: at its top level the file imports, defines and binds plain values, and
calls nothing that could run a test.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from arena.packages.pythontext import PythonFile, dotted
from arena.packages.shell import ShellScript, is_python

_RUNNERS = re.compile(r"pytest|py\.test|unittest|nose|runpy|importlib|BENCHFLOW_PYTEST_BIN")
_PLAIN_CALLS = frozenset(
    {"Path", "PurePath", "PurePosixPath", "resolve", "absolute", "joinpath", "with_name", "join",
     "dirname", "abspath", "realpath", "expanduser", "compile", "set", "frozenset", "dict", "list",
     "tuple", "range", "int", "float", "Decimal", "Fraction", "date", "datetime", "timedelta",
     "getenv", "getLogger", "namedtuple", "TypeVar"}
)  # fmt: skip

MAX_STARTED = 20


class UnrunTests(NamedTuple):
    """A file, how it is started at which line (1-based), and how many tests nobody runs."""

    path: str
    started: str
    line: int
    tests: int


def unrun_tests(script: ShellScript, files: dict[str, PythonFile]) -> Iterator[UnrunTests]:
    """The tests that `script` starts as plain Python scripts which run none of them.

    `files`: the Python files by path; where another one names such a file, it may run its tests.
    """
    if _RUNNERS.search(script.text):
        return
    started: dict[str, tuple[str, int]] = {}
    for command in script.commands:
        word = _started(command.words)
        started.setdefault(posixpath.basename(word), (word, command.line))
    found = [path for path in files if posixpath.basename(path) in started]
    for path in found[:MAX_STARTED]:
        tests = _defined_only(files[path])
        if tests and not _is_named_elsewhere(path, script, files):
            word, line = started[posixpath.basename(path)]
            yield UnrunTests(path, word, line, tests)


def _is_named_elsewhere(path: str, script: ShellScript, files: dict[str, PythonFile]) -> bool:
    stem = posixpath.basename(path).removesuffix(".py")
    if re.search(rf"(?:import|from)\s+{re.escape(stem)}\b", script.text):
        return True
    return any(stem in file.text for other, file in files.items() if other != path)


def _started(words: tuple[str, ...]) -> str:
    """The file that a command gives to Python to run; empty where it gives none."""
    python = next((i for i, word in enumerate(words) if is_python(word)), len(words))
    found = (word for word in words[python + 1 :] if word in {"-m", "-c"} or word[:1] != "-")
    return next(found, "")


def _defined_only(file: PythonFile) -> int:
    """How many tests a file defines if running it runs none of them; else 0."""
    if file.tree is None:
        return 0
    body = file.tree.body
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    tests = _tests(body) + sum(_tests(node.body) for node in classes)
    loads = any(isinstance(n, ast.FunctionDef) and n.name == "load_tests" for n in body)
    has_cases = loads or any(node.bases for node in classes)
    return tests if all(_is_inert(node, has_cases) for node in body) else 0


def _tests(body: list[ast.stmt]) -> int:
    functions = (n for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return sum(function.name.startswith("test") for function in functions)


def _is_inert(node: ast.stmt, has_cases: bool) -> bool:
    """Whether a statement can't run a test. `unittest.main()` runs none where there is no case."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
        return True
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return all(_called(d).startswith("pytest.") for d in node.decorator_list)
    if isinstance(node, ast.ClassDef):
        plain = not node.decorator_list and not node.keywords
        return plain and all(_is_inert(part, has_cases) for part in node.body)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return node.value is None or _is_plain_value(node.value)
    if isinstance(node, ast.If) and _asks_for_main(node.test):
        return not node.orelse and all(_is_inert(part, has_cases) for part in node.body)
    if isinstance(node, ast.Expr):
        name = _called(node.value)
        runs_nothing = name == "unittest.main" and not has_cases
        is_path = name in {"sys.path.insert", "sys.path.append"}
        return isinstance(node.value, ast.Constant) or runs_nothing or is_path
    return False


def _asks_for_main(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
    )


def _called(node: ast.expr) -> str:
    """The dotted name of what is called, or of a name itself."""
    return dotted(node.func if isinstance(node, ast.Call) else node)


def _is_plain_value(node: ast.expr) -> bool:
    calls = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
    return all(dotted(function).rpartition(".")[2] in _PLAIN_CALLS for function in calls)
