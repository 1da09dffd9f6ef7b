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

from arena.packages.inline import inline_programs
from arena.packages.pythontext import PythonFile, dotted
from arena.packages.shell import Command, Redirect, ShellScript, nodes, plain

_REWARD = re.compile(r"reward\.(txt|json)|BENCHFLOW_REWARD_(TEXT|JSON)")
_CONDITIONAL = frozenset(
    {"if_statement", "elif_clause", "else_clause", "case_statement", "while_statement", "list",
     "for_statement", "c_style_for_statement", "function_definition"}
)  # fmt: skip
_DECIDING_PARTS = (
    "test_command", "negated_command", "||", "((", "if_statement", "case_statement",
    "while_statement", "for_statement", "c_style_for_statement",
)  # fmt: skip
_WAYS_OUT = frozenset({"exit", "exec", "kill", "trap", "return"})
_PLAIN = re.compile(r"\s*(?:\{\s*\"reward\"\s*:)?\s*(?P<value>[0-9.]+(?:[eE]-?\d+)?)\s*\}?\s*")
_DECIDING = (
    ast.If, ast.IfExp, ast.Assert, ast.Raise, ast.Compare, ast.Try, ast.BoolOp, ast.While, ast.For,
    ast.Match, ast.Subscript,
)  # fmt: skip
_HARMLESS_CALLS = frozenset(
    {"Path", "write", "write_text", "mkdir", "makedirs", "print", "dump", "dumps", "str", "float",
     "close", "flush", "dirname"}
)  # fmt: skip
_HARMLESS = frozenset(
    {"echo", "printf", "cat", "ls", "exit", "true", ":", "mkdir", "chmod", "date", "test", "[",
     "cd", "sync", "sleep", "pwd", "set", "id", "env", "wc", "head", "tail", "tee"}
)  # fmt: skip
_PREPARING = frozenset({"cd", "mkdir", "true", ":", "export"})
_MAY_SET = frozenset({"read", "let", "printf", "mapfile", "readarray", "getopts", "wait", "unset"})

MAX_WRITES = 100
MAX_REWARD = 400
"""Characters of a reward; nobody writes a longer one."""


class Constant(NamedTuple):
    """A reward that never changes: the value as it is written, and the line."""

    value: str
    line: int


def constant_in_shell(script: ShellScript) -> Constant | None:
    """The one reward that a script writes whatever happened, or None."""
    writes = [r for r in script.redirects if _REWARD.search(script.expanded(r.target))]
    if not writes:
        return _constant_in_inline(script)
    if len(writes) > MAX_WRITES:
        return None
    writes.sort(key=lambda write: write.line)
    certain = [w for w in writes if not _is_conditional(w.body)]
    if certain and not _may_leave_before(script, certain[-1].line):
        last, line = certain[-1], certain[-1].line
    elif _every_branch_writes(writes):
        last, line = writes[-1], writes[0].line
    else:
        return None
    # what was written into the same file before counts no more
    files = {"json" in script.expanded(write.target).lower() for write in writes}
    decides = last is writes[-1] and last in certain and len(files) == 1
    value = _written(script, last) if decides else _value_of_all(script, writes)
    return None if value is None or _may_change_after(script, last) else Constant(value, line)


def _value_of_all(script: ShellScript, writes: list[Redirect]) -> str | None:
    """The value that all of a script's writes share; None where one is unknown or another."""
    values = [_written(script, write) for write in writes]
    known = [value for value in values if value is not None]
    return known[0] if len(known) == len(values) and len(set(map(_number, known))) == 1 else None


def _constant_in_inline(script: ShellScript) -> Constant | None:
    """The one reward that a Python program in the script writes whatever happened."""
    for program, command, line in inline_programs(script):
        found = constant_in_python(program) if isinstance(program, PythonFile) else None
        if found is None or _is_conditional(command.node) or _may_leave_before(script, line):
            continue
        later = [c for c in script.commands if c.node.start_byte > command.node.end_byte]
        if all(c.name in _HARMLESS for c in later):
            return Constant(found.value, line + found.line - 1)
    return None


def always_runs(script: ShellScript, path: str) -> bool:
    """Whether a script runs another file whatever happened."""
    name = path.rpartition("/")[2]
    return any(
        any(name in word for word in command.words)
        and not _is_conditional(command.node)
        and not _may_leave_before(script, command.line)
        for command in script.commands
    )


def constant_in_python(file: PythonFile) -> Constant | None:
    """The one reward that a file writes without deciding anything at all, or None.

    Whatever else it calls could fail, or write another reward.
    """
    if file.tree is None or not _REWARD.search(file.text):
        return None
    walked = file.nodes
    guards = {id(part) for node in walked if _is_main_guard(node) for part in _guard_of(node)}
    if any(isinstance(node, _DECIDING) and id(node) not in guards for node in walked):
        return None
    own = {node.name for node in walked if isinstance(node, ast.FunctionDef)}
    if any(not _is_harmless(name, call) and name not in own for name, call in file.calls):
        return None
    written = list(_python_writes(file))
    values = {_number(constant.value) for constant in written}
    return written[0] if len(values) == 1 and isinstance(next(iter(values)), float) else None


def _is_main_guard(node: ast.AST) -> bool:
    test = node.test if isinstance(node, ast.If) else None
    return isinstance(test, ast.Compare) and dotted(test.left) == "__name__"


def _guard_of(node: ast.AST) -> tuple[ast.AST, ...]:
    return (node, node.test) if isinstance(node, ast.If) else ()


def _is_harmless(name: str, call: ast.Call) -> bool:
    """A call that writes the reward or says something, and cannot fail for the agent's doing."""
    last = name.rpartition(".")[2]
    if last == "open":
        return len(call.args) > 1 or bool(call.keywords)
    return last in _HARMLESS_CALLS


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
    if (text := _herestring(write.body)) is not None:
        return _plain_number(text, script)
    commands = [c for c in script.commands if _inside(c, write.body)]
    if next(nodes(write.body, *_DECIDING_PARTS), None) is not None:
        return None  # `[ -f x ] && echo 1 > file` is one list, and its redirection is the list's
    if write.body.type == "list":
        commands = [c for c in commands if c.name not in _PREPARING]
    writers = [c for c in commands if c.name in {"echo", "printf"}]
    if len(commands) != 1 or len(writers) != 1:
        return None
    words = [w for w in writers[0].words[1:] if not re.fullmatch(r"-[neE]+", w)]
    text = " ".join(words)
    if writers[0].name == "printf" and words and "%" in words[0]:
        text = " ".join(words[1:])
    return _plain_number(text.replace("\\n", ""), script)


def _herestring(node: Node) -> str | None:
    """What `cat <<< text` hands through."""
    redirect = next(nodes(node, "herestring_redirect"), None)
    if redirect is None or not redirect.named_children:
        return None
    return plain(redirect.named_children[0]) if (node.text or b"").startswith(b"cat ") else None


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
    if _may_set(script, name):
        return []
    return values if all(re.fullmatch(r"[0-9.]+", v) for v in values) else []


def _may_set(script: ShellScript, name: str) -> bool:
    """Whether anything but an assignment could give a variable its value."""
    changes = re.compile(rf"\b{name}\s*(?:[-+*/%]?=|\+\+|--)")
    for line in script.text.split("\n"):
        _, opened, sums = line.partition("((")
        if changes.search(sums if opened else "") or line.lstrip().startswith(f"for {name} "):
            return True
    return any(
        c.name in {"source", ".", "eval"}
        or (c.name in _MAY_SET and any(re.search(rf"\b{name}\b", word) for word in c.words[1:]))
        for c in script.commands
    )


def _may_change_after(script: ShellScript, write: Redirect) -> bool:
    """Whether something after a write could write another reward: a program, or a variable path."""
    end = write.body.end_byte if write.body else 0
    later = (c for c in script.commands if c.node.start_byte > end)
    hidden = (r for r in script.redirects if r.line > write.line and r.target.startswith("$"))
    return any(c.name not in _HARMLESS for c in later) or any(hidden)


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
    """Whether an if or a case writes in each of its branches, and has one for everything else."""
    for write in writes:
        node = write.body
        while node is not None and node.type not in {"if_statement", "case_statement"}:
            node = node.parent
        if node is None:
            continue
        count = _branches(node)
        here = sum(1 for w in writes if w.body is not None and _is_below(w.body, node))
        if count and here >= count:
            return True
    return False


def _branches(node: Node) -> int:
    """How many branches a statement has; 0 where none is for everything else."""
    if node.type == "if_statement":
        bodies = [c.type for c in node.children if c.type in {"elif_clause", "else_clause"}]
        return len(bodies) + 1 if "else_clause" in bodies else 0
    items = [c for c in node.children if c.type == "case_item"]
    return len(items) if any((i.text or b"").lstrip(b"( ").startswith(b"*)") for i in items) else 0


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
