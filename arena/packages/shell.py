"""Shell scripts as syntax trees: which commands they run, what they write where.

tree-sitter reads them, whatever is wrong with them; whether a script is valid, shfmt's parser has
the last word, since tree-sitter's grammar also refuses some valid ones (6 % of Debian's own
scripts, counted on 302; shfmt refused one of them). Both only read.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Node

from arena.packages.trees import Allowance

_SHEBANG = re.compile(r"#!\s*\S*?(?:/|env\s+(?:-\S+\s+)*)(sh|bash|dash|ash|ksh)\b")
_PYTHON = re.compile(r"python[\d.]*")
_PROBLEM = re.compile(r"^<standard input>:(\d+):\S*\s*(.*)$", re.M)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_SECONDS = 10
_MEMORY = 256 * 1024 * 1024
_TOO_DEEP = "it is nested so deeply, or so odd, that it cannot be read"
_SIMPLE = frozenset({"word", "number", "raw_string", "string", "concatenation", "ansi_c_string"})
MAX_COMMANDS = 5_000
MAX_VALUE = 300
MAX_REDIRECTS = 5_000


class Command(NamedTuple):
    """A simple command: its words, unquoted where they are plain text, and its line (1-based)."""

    words: tuple[str, ...]
    line: int
    node: Node

    @property
    def name(self) -> str:
        return self.words[0].rpartition("/")[2] if self.words else ""


class Redirect(NamedTuple):
    """Output that goes to a file: the command's node, the file as written, the line."""

    body: Node | None
    target: str
    line: int


class Problem(NamedTuple):
    """Why a text is no valid script."""

    message: str
    line: int


class ShellScript:
    """One script, parsed when it is first asked something."""

    def __init__(self, text: str, allowance: Allowance | None = None) -> None:
        self.text = text
        self.allowance = allowance or Allowance()

    @cached_property
    def root(self) -> Node | None:
        """The tree; None where the text is made to hold the parser up."""
        return self.allowance.parse("tree_sitter_bash", _language(), self.text)

    @cached_property
    def commands(self) -> list[Command]:
        """All simple commands in order, those in functions and substitutions included.

        A word holds what is nested in it, which stands again as a command of its own: text that is
        nested without end would come out as its square, so that ends the list, too.
        """
        found: list[Command] = []
        room = 8 * len(self.text)
        for node in nodes(self.root, "command"):
            words = tuple(_words(node))
            if words:
                found.append(Command(words, node.start_point[0] + 1, node))
                room -= sum(map(len, words))
            if len(found) >= MAX_COMMANDS or room < 0:
                break
        return found

    @cached_property
    def redirects(self) -> list[Redirect]:
        """All redirections of output to a file, and the files that `tee` writes."""
        found: list[Redirect] = []
        for node in nodes(self.root, "file_redirect"):
            target = node.child_by_field_name("destination")
            operator = next((c.type for c in node.children if c.type.startswith((">", "&>"))), None)
            if target is not None and operator:
                found.append(Redirect(_body(node), plain(target), node.start_point[0] + 1))
            if len(found) >= MAX_REDIRECTS:
                break
        for command in self.commands:
            if command.name == "tee":
                found += [Redirect(_before(command.node), w, command.line) for w in command.words]
        return found

    @cached_property
    def values(self) -> dict[str, str]:
        """The variables that are assigned once, to a plain text."""
        found: dict[str, list[str]] = {}
        for node in nodes(self.root, "variable_assignment"):
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is not None:
                found.setdefault(plain(name), []).append(plain(value) if value is not None else "")
        once = ((name, texts[0]) for name, texts in found.items() if len(texts) == 1)
        return {n: t for n, t in once if len(t) <= MAX_VALUE and not re.search(r"[$`(]", t)}

    def expanded(self, word: str) -> str:
        """A word with the variables filled in whose value is certain."""
        if len(word) > MAX_VALUE:
            return word
        return _VARIABLE.sub(lambda match: self.values.get(match[1] or match[2], match[0]), word)

    @property
    def is_doubtful(self) -> bool:
        """Whether tree-sitter refuses it, so that `problem` starts a process to be sure."""
        return self.root is None or self.root.has_error

    def problem(self) -> Problem | None:
        """Why this is no valid shell script, or None."""
        if self.root is None:
            return Problem(_TOO_DEEP, 1)
        return _confirmed(self.text) if self.root.has_error else None


def is_shell(path: str, text: str) -> bool:
    """Whether a file is a shell script, by its shebang, else by its name."""
    if text.startswith("#!"):
        return bool(_SHEBANG.match(text))
    return path.endswith((".sh", ".bash"))


def is_python(program: str) -> bool:
    """Whether a command's name is that of a Python: `python3`, `/usr/bin/python3.12`."""
    return bool(_PYTHON.fullmatch(program.rpartition("/")[2]))


def nodes(root: Node | None, *types: str) -> Iterator[Node]:
    """The nodes below `root` of these types, in order, without recursion."""
    if root is None:
        return
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and node.type in types:
            yield node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def plain(node: Node) -> str:
    """A word as the shell would see it where that is plain; else as it is written."""
    text = (node.text or b"").decode("utf-8", "replace")
    if node.type == "concatenation":
        return "".join(plain(child) for child in node.children)
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "string":
        return text[1:-1].replace('\\"', '"')
    return text


def _words(node: Node) -> Iterator[str]:
    for child in node.children:
        if child.type == "command_name":
            yield "".join(plain(part) for part in child.children)
        elif child.type in _SIMPLE or child.type in {"simple_expansion", "expansion"}:
            yield plain(child)
        elif child.type == "command_substitution":
            yield "$()"


def _body(redirect: Node) -> Node | None:
    """What writes into a redirection."""
    statement = redirect.parent
    if statement is not None and statement.type == "heredoc_redirect":
        statement = statement.parent
    if statement is None or statement.type == "command":
        return statement  # `> file echo 1`
    return statement.child_by_field_name("body")


def _before(node: Node) -> Node | None:
    """What stands before a command in its pipeline."""
    return node.prev_named_sibling if node.parent and node.parent.type == "pipeline" else None


@lru_cache(1)
def _language() -> Language:
    return Language(tree_sitter_bash.language())


def _confirmed(text: str) -> Problem | None:
    """shfmt's verdict on a script; it only parses, and prints what it would format.

    Nested text costs it 4 KB of memory a byte, so it gets a limit, where the system has them.
    """
    process = subprocess.Popen(
        [_shfmt(), "-ln", "bash"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={"PATH": os.defpath},
    )
    with process:
        if sys.platform == "linux":
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
        try:
            _, said = process.communicate(text.encode("utf-8", "replace"), _SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return Problem(_TOO_DEEP, 1)
    if process.returncode == 0:
        return None
    match = _PROBLEM.search(said.decode("utf-8", "replace"))
    return Problem(match[2].strip(), int(match[1])) if match else Problem(_TOO_DEEP, 1)


@lru_cache(1)
def _shfmt() -> str:
    own = Path(sys.executable).parent / "shfmt"
    return str(own) if own.exists() else shutil.which("shfmt") or "shfmt"
