"""Programs inside a shell script: `python3 -c '…'`, and here-documents for Python or a shell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from tree_sitter import Node

from arena.packages.pythontext import PythonFile
from arena.packages.shell import Command, ShellScript, is_python, nodes

MAX_PROGRAMS = 100
_SHELLS = frozenset({"sh", "bash", "dash"})


class Inline(NamedTuple):
    """One such program, the command that runs it, and the line (1-based) at which it begins."""

    program: PythonFile | ShellScript
    command: Command
    line: int


def inline_programs(script: ShellScript) -> Iterator[Inline]:
    """The first programs that a script holds; `sh -c` is read with the commands."""
    return islice(_programs(script), MAX_PROGRAMS)


def _programs(script: ShellScript) -> Iterator[Inline]:
    for command in script.commands:
        for_python = is_python(command.name)
        if not for_python and command.name not in _SHELLS:
            continue
        if for_python and "-c" in command.words[:-1]:
            text = command.words[command.words.index("-c") + 1]
            yield Inline(PythonFile(text, script.allowance), command, command.line)
        elif all(word.startswith("-") for word in command.words[1:]):
            body = _heredoc(command.node)
            if body is not None:
                text = (body.text or b"").decode("utf-8", "replace")
                kind = PythonFile if for_python else ShellScript
                program = kind(text, script.allowance)
                yield Inline(program, command, body.start_point[0] + 1)


def _heredoc(command: Node) -> Node | None:
    """The here-document that a command reads."""
    statement = command.parent
    if statement is None or statement.type != "redirected_statement":
        return None
    return next(nodes(statement, "heredoc_body"), None)
