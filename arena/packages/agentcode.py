"""Where a verifier runs what the agent wrote: as root, or with the agent's files to import from.

Read from the verifier's shell scripts and Python files. Only what is plain is told: a path in the
agent's folders that is written out, and the folder that a script is in at a command.
"""

from __future__ import annotations

import ast
import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from arena.packages.pythontext import PythonFile, dotted
from arena.packages.shell import Command, ShellScript, is_python, nodes

_WRAPPERS = {"timeout": 1, "env": 0, "nice": 0, "time": 0, "exec": 0, "command": 0, "stdbuf": 0}
"""Commands that run another, and how many words of their own stand before it."""
_INTERPRETER = re.compile(
    r"(ba|da|k|z)?sh|source|\.|python[\d.]*|pypy[\d.]*|node|deno|bun|perl|ruby|php|lua|Rscript|julia"
)
_TAKES_A_VALUE = re.compile(r"-[ksnuWXopr]|--(signal|kill-after|unset)|--(?!no-)[\w-]+")
_CODE_FLAGS = (
    (re.compile(r"(ba|da|k|z)?sh"), re.compile(r"-[a-z]*[cs]")),
    (re.compile(r"python[\d.]*|pypy[\d.]*"), re.compile(r"-[a-zA-Z]*[cm]|-")),
    (re.compile(r".*"), re.compile(r"-[a-z]*[epr]|--eval|-")),
)
"""By interpreter, what says that the program is no file: it is written out, or a module."""
_BUILDS = frozenset({"make", "npm", "cargo", "go"})
_PYTEST = re.compile(r"pytest|py\.test")
_STARTER = re.compile(r"subprocess\.(run|Popen|call|check_call|check_output)|os\.system")
_OTHER_USER = frozenset({"user", "preexec_fn", None})  # None: `**options`, which may hold one
MAX_WORDS = 200
MAX_PATH = 1_000


class Ran(NamedTuple):
    """What is run, at which line (1-based)."""

    what: str
    line: int


class AgentsFolders(NamedTuple):
    """The folders that hold the agent's work, and where `test.sh` starts; None where unclear."""

    folders: tuple[str, ...]
    start: str | None

    def hold(self, path: str, place: str | None = None) -> bool:
        """Whether a path, taken from the folder `place`, is the agent's."""
        if not path.startswith("/") and place is None:
            return False
        full = posixpath.normpath(posixpath.join(place or "/", path[:MAX_PATH]))
        return any(full == f or full.startswith(f"{f.rstrip('/')}/") for f in self.folders)


def run_by_shell(script: ShellScript, agents: AgentsFolders) -> Iterator[Ran]:
    """The agent's programs that a script of root's starts as itself."""
    for words, line, place in _placed(script, agents.start):
        path = _program(words)
        if path and agents.hold(path, place):
            yield Ran(" ".join(words[:2]) if path == "." else path, line)


def run_by_python(file: PythonFile, agents: AgentsFolders) -> Iterator[Ran]:
    """The agent's programs that a Python file starts without giving another user."""
    if not re.search(r"subprocess|os\.system", file.text) or "setuid" in file.text:
        return
    paths = _paths(file)
    for name, call in file.calls:
        if _STARTER.fullmatch(name) and call.args:
            users = _OTHER_USER & {keyword.arg for keyword in call.keywords}
            path = _program(_unwrapped(_words_of(file, call.args[0], paths)))
            if path and not users and agents.hold(path):
                yield Ran(path, call.lineno)


def import_from_agent(script: ShellScript, agents: AgentsFolders) -> Iterator[Ran]:
    """Runs of pytest over the agent's folder, and of `python -m` from within it."""
    for words, line, place in _placed(script, agents.start):
        module = _module(words)
        inside = place is not None and agents.hold(place)
        if inside and module and not _is_isolated(words):
            yield Ran(" ".join(words[: words.index(module) + 1]), line)
        elif words and (_PYTEST.fullmatch(_name(words)) or _PYTEST.fullmatch(module)):
            targets = _targets(words[words.index(module) + 1 :] if module else words[1:])
            if any(agents.hold(t, place) for t in targets) or (inside and not targets):
                shown = words[: words.index(module) + 1] if module else words[:1]
                yield Ran(" ".join(shown), line)


def _placed(script: ShellScript, start: str | None) -> Iterator[tuple[list[str], int, str | None]]:
    """Each command's words without wrappers, its line, and the folder that it is run in."""
    moves = any(command.name in {"cd", "pushd"} for command in script.commands)
    brackets = nodes(script.root, "subshell", "command_substitution") if moves else iter(())
    ahead = next(brackets, None)
    place, outside = start, list[tuple[int, str | None]]()
    for command in script.commands:
        at = command.node.start_byte
        while ahead is not None and ahead.start_byte <= at:
            place = _left(ahead.start_byte, outside, place)
            outside.append((ahead.end_byte, place))
            ahead = next(brackets, None)
        place = _left(at, outside, place)
        if command.name in {"cd", "pushd"}:
            place = _moved(script, command, place)
        else:
            words = [script.expanded(word) for word in command.words[:MAX_WORDS]]
            yield _unwrapped(words), command.line, place


def _left(at: int, outside: list[tuple[int, str | None]], place: str | None) -> str | None:
    """Where the shell is again after the brackets that ended before `at`."""
    while outside and outside[-1][0] <= at:
        place = outside.pop()[1]
    return place


def _moved(script: ShellScript, command: Command, place: str | None) -> str | None:
    target = script.expanded(command.words[1]) if len(command.words) == 2 else "$"
    if "$" in target or target[:1] in {"-", "~"}:
        return None
    if not target.startswith("/") and place is None:
        return None
    return posixpath.normpath(posixpath.join(place or "/", target[:MAX_PATH]))[:MAX_PATH]


def _unwrapped(words: Sequence[str]) -> list[str]:
    """The words from the command that is run in the end."""
    rest = list(words)
    while rest and (name := _name(rest)) in _WRAPPERS:
        own = _WRAPPERS[name]
        index = 1
        while index < len(rest) and (rest[index].startswith("-") or "=" in rest[index] or own):
            if _TAKES_A_VALUE.fullmatch(rest[index]) and name != "exec":
                index += 1
            elif not rest[index].startswith("-") and "=" not in rest[index]:
                own -= 1
            index += 1
        rest = rest[index:]
    return rest


def _program(words: Sequence[str]) -> str:
    """The file that a command runs; a folder for what builds or tests there; empty for others."""
    if not words:
        return ""
    name = _name(words)
    if _INTERPRETER.fullmatch(name) and not words[0].startswith("./"):
        code = next(flag for names, flag in _CODE_FLAGS if names.fullmatch(name))
        for before, word in pairwise(words):
            if code.fullmatch(word):
                return ""
            if not word.startswith(("-", "+")) and before not in {"-W", "-X", "-o"}:
                return word if "$" not in word else ""
    if name in _BUILDS and len(words) > 1 and not words[1].startswith("--v"):
        return words[words.index("-C") + 1] if "-C" in words[:-1] else "."
    return words[0] if "/" in words[0] and "$" not in words[0] else ""


def _module(words: Sequence[str]) -> str:
    """X of `python -m X`; else empty."""
    if not words or not is_python(words[0]):
        return ""
    for flag, word in pairwise(words[1:]):
        if not flag.startswith("-") or re.fullmatch(r"-[a-zA-Z]*c", flag):
            return ""
        if re.fullmatch(r"-[a-zA-Z]*m", flag):
            return word
    return ""


def _is_isolated(words: Sequence[str]) -> bool:
    """Whether Python leaves its working directory out: `-I`, or `-P` from 3.11 on."""
    flags = words[1 : words.index(_module(words))]
    return any(re.fullmatch(r"-[a-zA-Z]*[IP][a-zA-Z]*", word) for word in flags)


def _targets(words: Sequence[str]) -> list[str]:
    """What a run of pytest is given to collect."""
    pairs = pairwise(("", *words))
    return [
        word.partition("::")[0]
        for before, word in pairs
        if not word.startswith("-") and not re.fullmatch(r"-[ckmopnW]|--[\w-]+", before)
    ]


def _name(words: Sequence[str]) -> str:
    return words[0].rpartition("/")[2]


def _paths(file: PythonFile) -> dict[str, str]:
    """Names that a file binds once to a path: `APP = Path("/root") / "app.py"`."""
    found: dict[str, list[str]] = {}
    for node in file.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            earlier = {name: paths[0] for name, paths in found.items() if len(paths) == 1}
            text = _path_of(file, node.value, earlier) if len(found) < MAX_WORDS else ""
            found.setdefault(node.targets[0].id, []).append(text)
    return {name: paths[0] for name, paths in found.items() if len(paths) == 1 and paths[0]}


def _path_of(file: PythonFile, node: ast.expr, paths: dict[str, str]) -> str:
    """The path or text that an expression stands for; empty where that is not plain."""
    parts: list[str] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and len(parts) < MAX_WORDS:
        parts.append(file.text_of(node.right) or "$")
        node = node.left
    while isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in {
        "Path", "PurePosixPath", "str", "fspath",
    } and len(node.args) == 1:  # fmt: skip
        node = node.args[0]
    if isinstance(node, ast.Name) and node.id in paths:
        first = paths[node.id]
    else:
        first = file.text_of(node) or ""
    return posixpath.join(first, *reversed(parts))[:MAX_PATH] if first else ""


def _words_of(file: PythonFile, node: ast.expr, paths: dict[str, str]) -> list[str]:
    """A command's first words, from the list or the line that starts it."""
    if isinstance(node, ast.List | ast.Tuple):
        return [
            "python3" if dotted(part) == "sys.executable" else _path_of(file, part, paths) or "$"
            for part in node.elts[:MAX_WORDS]
        ]
    line = _path_of(file, node, paths)
    try:
        return shlex.split(line)
    except ValueError:
        return []
