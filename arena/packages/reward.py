"""Whether a verifier's script can write more than one reward.

Only what is certain counts: one number, written whatever happened, with no way out before it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from arena.packages.pythontext import PythonFile
from arena.packages.shell import Command, Redirect, ShellScript, nodes, plain

_REWARD = re.compile(r"reward\.(txt|json)|BENCHFLOW_REWARD_(TEXT|JSON)")
_CONDITIONAL = frozenset(
    {"if_statement", "elif_clause", "else_clause", "case_statement", "while_statement", "list",
     "for_statement", "c_style_for_statement", "function_definition"}
)  # fmt: skip
_WAYS_OUT = frozenset({"exit", "exec", "kill", "trap", "return"})
_PLAIN = re.compile(r"\s*(?:\{\s*\"reward\"\s*:)?\s*(?P<value>[0-9.]+(?:[eE]-?\d+)?)\s*\}?\s*")
_DECIDING = (ast.If, ast.IfExp, ast.Assert, ast.Raise, ast.Compare, ast.Try, ast.BoolOp, ast.While)
MAX_WRITES = 50
MAX_REWARD = 400
"""Characters of a reward; nobody writes a longer one."""


class Constant(NamedTuple):
    """A reward that never changes: the value as it is written, and the line."""

    value: str
    line: int


def constant_in_shell(script: ShellScript) -> Constant | None:
    """The one reward that a script writes whatever happened, or None."""
    writes = [r for r in script.redirects if _REWARD.search(r.target)]
    if len(writes) > MAX_WRITES:
        return None
    values = [_written(script, write) for write in writes]
    known = [value for value in values if value is not None]
    if not writes or len(known) < len(writes) or len(set(map(_number, known))) != 1:
        return None
    certain = [w for w in writes if not _is_conditional(w.body)]
    if certain and not _may_leave_before(script, certain[0].line):
        return Constant(known[0], certain[0].line)
    if _every_branch_writes(writes):
        return Constant(known[0], writes[0].line)
    return None


def writes_in_python(file: PythonFile) -> bool:
    """Whether a Python file writes the reward, as far as its text shows."""
    return bool(_REWARD.search(file.text))


def constant_in_python(file: PythonFile) -> Constant | None:
    """The one reward that a file writes without deciding anything at all, or None."""
    if file.tree is None or not writes_in_python(file):
        return None
    if any(isinstance(node, _DECIDING) for node in file.nodes):
        return None
    if any(name.endswith(("exit", "run", "main", "call")) for name, _ in file.calls):
        return None
    written = list(_python_writes(file))
    values = {_number(constant.value) for constant in written}
    return written[0] if len(values) == 1 and isinstance(next(iter(values)), float) else None


def _python_writes(file: PythonFile) -> Iterator[Constant]:
    for name, call in file.calls:
        if name.rpartition(".")[2] in {"write", "write_text"} and call.args:
            text = file.text_of(call.args[0])
            value = _value_of(text) if text else None
            yield Constant(value or "?", call.lineno)
        elif name.endswith("json.dump") and call.args:
            yield Constant(_dumped(call.args[0]), call.lineno)


def _dumped(node: ast.expr) -> str:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return "?"
    value = value.get("reward") if isinstance(value, dict) else value
    # Python refuses to write a number of thousands of digits, which is no reward either
    return str(value) if isinstance(value, int | float) and abs(value) < 1e100 else "?"


def _written(script: ShellScript, write: Redirect) -> str | None:
    """The number that a redirection writes; None for what is no plain number."""
    if write.body is None:
        return None
    heredoc = next(nodes(write.body.parent or write.body, "heredoc_body"), None)
    if heredoc is not None:
        return _plain_number((heredoc.text or b"").decode("utf-8", "replace"), script)
    commands = [c for c in script.commands if _inside(c, write.body)]
    writers = [c for c in commands if c.name in {"echo", "printf"}]
    if len(commands) != 1 or len(writers) != 1:
        return None
    words = [w for w in writers[0].words[1:] if not re.fullmatch(r"-[neE]+", w)]
    text = " ".join(words)
    if writers[0].name == "printf" and words and "%" in words[0]:
        text = " ".join(words[1:])
    return _plain_number(text.replace("\\n", ""), script)


def _plain_number(text: str, script: ShellScript) -> str | None:
    text = text.strip()
    if match := re.fullmatch(r"\$\{?(\w+)\}?", text):
        values = _assigned(script, match[1])
        return values[0] if len({_number(v) for v in values}) == 1 else None
    if len(text) > MAX_REWARD:
        return None
    if (value := _value_of(text)) is not None:
        return value
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    reward = data.get("reward") if isinstance(data, dict) else None
    return str(reward) if isinstance(reward, int | float) else None


def _value_of(text: str) -> str | None:
    """The number in `1`, `{"reward": 1}` and the like."""
    match = _PLAIN.fullmatch(text) if len(text) <= MAX_REWARD else None
    return match["value"] if match else None


def _assigned(script: ShellScript, name: str) -> list[str]:
    """Every value that a variable is given; `read` or a command's output counts as unknown."""
    values = []
    for node in nodes(script.root, "variable_assignment"):
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if target is not None and plain(target) == name:
            values.append(plain(value) if value is not None else "")
    if any(c.name in {"read", "source", ".", "eval", "let"} for c in script.commands):
        return []
    return values if all(re.fullmatch(r"[0-9.]+", v) for v in values) else []


def _is_conditional(node: Node | None) -> bool:
    """Whether a command runs only under a condition, in a loop, or when a function is called."""
    while node is not None:
        parent = node.parent
        if parent is not None and parent.type == "list":
            first = parent.children[0]
            if first.id != node.id:
                return True
        elif node.type in _CONDITIONAL and node.type != "list":
            return True
        node = parent
    return False


def _may_leave_before(script: ShellScript, line: int) -> bool:
    if re.match(r"#!\S+(?:\s+\S+)?\s+-[a-z]*e", script.text):
        return True
    for command in script.commands:
        if command.line > line:
            return False
        if command.name in _WAYS_OUT:
            return True
        if command.name == "set" and any(
            w == "errexit" or (w.startswith("-") and "e" in w) for w in command.words[1:]
        ):
            return True
    return False


def _every_branch_writes(writes: list[Redirect]) -> bool:
    """Whether an if with an else writes in each branch; their values are known to be one."""
    for write in writes:
        node = write.body
        while node is not None and node.type != "if_statement":
            node = node.parent
        if node is None:
            continue
        bodies = [c for c in node.children if c.type in {"elif_clause", "else_clause"}]
        has_else = any(c.type == "else_clause" for c in bodies)
        here = sum(1 for w in writes if w.body is not None and _is_below(w.body, node))
        if has_else and here >= len(bodies) + 1:
            return True
    return False


def _is_below(node: Node, above: Node) -> bool:
    return above.start_byte <= node.start_byte and node.end_byte <= above.end_byte


def _inside(command: Command, node: Node) -> bool:
    return _is_below(command.node, node)


def _number(value: str) -> float | str:
    """What is written, so that 1 and 1.0 are one value; `1.2.3` is no number, and stays text."""
    try:
        return float(value)
    except ValueError:
        return value
