"""Code as tokens that survive renaming: what a program does, not what it calls things.

Shell keeps its commands, flags and operators; other languages keep keywords, calls and attributes
of what is not defined in the file itself. Strings, numbers, paths and own names become `S`, `N`,
`P` and `V`. Nothing is parsed: broken code has tokens too, and hostile code costs no more than its
length.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from typing import NamedTuple

from arena.nearcopies.prose import plain


class Token(NamedTuple):
    """A normalised token and its line (1-based)."""

    text: str
    line: int


_SLASH_COMMENTS = re.compile(r"\.(?:[cm]?[jt]sx?|c|h|cc|cpp|hpp|cs|go|java|kt|rs|scala|swift|php)$")
_PROGRAM = r"""
    (?P<comment>{comment})
  | (?P<string>[A-Za-z]{{0,2}}(?:\"\"\"(?:[^\\]|\\.?)*?(?:\"\"\"|\Z)|'''(?:[^\\]|\\.?)*?(?:'''|\Z)
      |"(?:[^"\\\n]|\\.?)*+(?:"|(?=\n)|\Z)|'(?:[^'\\\n]|\\.?)*+(?:'|(?=\n)|\Z)))
  | (?P<number>\d[\w.]*)
  | (?P<name>\.?[^\W\d]\w*)
  | (?P<operator>->|[-+*/%&|^<>=!]=|\*\*|//|<<|>>|&&|\|\||[-+*/%&|^<>=!~\[\]{{}}?@])
  | (?P<line>\n)
"""
_HASH = re.compile(_PROGRAM.format(comment=r"\#[^\n]*"), re.X | re.S)
_SLASHES = re.compile(_PROGRAM.format(comment=r"//[^\n]*|/\*.*?(?:\*/|\Z)"), re.X | re.S)
_KEYWORDS = frozenset(
    [
        *keyword.kwlist,
        *(
            "BEGIN",
            "END",
            "case",
            "catch",
            "const",
            "do",
            "enum",
            "fn",
            "func",
            "function",
            "let",
            "local",
        ),
        *("match", "mod", "new", "null", "package", "range", "self", "static", "struct", "switch"),
        *("this", "throw", "trait", "true", "false", "type", "undefined", "use", "var", "void"),
    ]
)
_BOUND = re.compile(
    r"(?:\b(?:def|class|function|fn|func|as|for|let|var|const)\s+|\bself\.)([^\W\d]\w*)"
    r"|(?:^|[,(\s])([^\W\d]\w*)[ \t]*(?::[^=\n]{1,80})?=(?!=)|^[ \t]*([^\W\d]\w*)[ \t]*:",
    re.M,
)
_IMPORT = re.compile(r"^[ \t]*(?:from\s+([\w.]+)\s+)?import\s+\(?([\w., \t]+)", re.M)

_SHELL = re.compile(
    r"""
    (?P<heredoc><<-?[ \t]*(['"]?)(?P<tag>\w+)\2(?P<rest>[^\n]*)\n
      (?P<body>.*?)(?:^[ \t]*(?P=tag)[ \t]*$|\Z))
  | (?P<comment>(?:^|(?<=[\s;]))\#[^\n]*)
  | (?P<line>\\?\n)
  | (?P<quoted>'[^']*')
  | (?P<variable>\$(?:\{[^}\n]{0,200}\}|\w+|[@*\#?!$-]))
  | (?P<opens>\$\(\(?|`|\bthen\b|\bdo\b|\belse\b|\bif\b|\belif\b|\bwhile\b|\buntil\b|!(?=\s)
      |&&|\|\|?|;;?|\{(?=\s)|\()
  | (?P<redirect>\d?>>?&?\d?|<)
  | (?P<assigned>(?<![\w$/.-])[A-Za-z_]\w*\+?=[^\s'"`$;&|()<>]*)
  | (?P<word>[^\s'"`$;&|()<>]+)
""",
    re.X | re.S | re.M,
)
_FUNCTION = re.compile(r"^[ \t]*(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)", re.M)
_SILENT = frozenset({"set", "fi", "done", "esac", "}", "in", ":", "true", "exit", "export"})
_BEFORE_COMMANDS = frozenset({"fi", "done", "esac", "}", "in"})
_IS_PATH = re.compile(r"[/~]|\.\w+$")
_IS_NUMBER = re.compile(r"[-+]?\d[\d.,:]*$")
_PROGRAMS = re.compile(r"^(?:python[\d.]*|node|perl|ruby|awk|gawk|jq|sed|R|Rscript|php)$")
_SHELLS = frozenset({"sh", "bash", "dash"})
_IS_SHELL = re.compile(r"#![^\n]*\b(?:ba|da|k|z)?sh\b")
_IS_PROGRAM = re.compile(r"#![^\n]*\b(?:python|node|perl|ruby|php)")
_WRITTEN = re.compile(r"\.(?:py|pl|rb|php|[cm]?[jt]s|c|h|cc|cpp|go|java|rs|awk|jq|sed|r)$")
_REPEATABLE = frozenset("VSNPW")
_DEEPEST = 3  # here-documents within here-documents; hostile text has one a line


def program_tokens(text: str, path: str = ".py", first_line: int = 1) -> list[Token]:
    """The tokens of a program; `path` tells how its language writes comments."""
    pattern = _SLASHES if _SLASH_COMMENTS.search(path.lower()) else _HASH
    text = plain(text)
    own, imported = _own_names(pattern.sub(_code_alone, text))
    return list(_collapsed(_program(pattern, text, own, imported, first_line)))


def shell_tokens(text: str) -> list[Token]:
    """The tokens of a shell script, those of programs inside it among them."""
    text = plain(text)
    return list(_collapsed(_shell(text, frozenset(_FUNCTION.findall(text)))))


def _code_alone(match: re.Match[str]) -> str:
    """Nothing for a comment, in whose prose `for all` or `as in` would define names."""
    return "" if match.lastgroup == "comment" else match.group()


def _own_names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a program defines itself, and those of what it imports."""
    imported = {
        name
        for modules, names in _IMPORT.findall(text)
        for name in re.findall(r"\w+", f"{modules} {names}")
    }
    bound = {name for names in _BOUND.findall(text) for name in names if name}
    return frozenset(bound - imported - _KEYWORDS), frozenset(imported)


def _program(
    pattern: re.Pattern[str],
    text: str,
    own: frozenset[str],
    imported: frozenset[str],
    line: int,
) -> Iterator[Token]:
    for match in pattern.finditer(text):
        kind, found = match.lastgroup, match.group()
        if kind == "string":
            if len(found) < 6 or found.lstrip("rbfuRBFU")[:3] not in ('"""', "'''"):
                yield Token("S", line)
        elif kind == "number":
            yield Token("N", line)
        elif kind == "name":
            called = text[match.end() : match.end() + 1] == "("
            yield Token(_name(found, called, own, imported), line)
        elif kind == "operator":
            yield Token(found, line)
        line += found.count("\n")


def _name(name: str, called: bool, own: frozenset[str], imported: frozenset[str]) -> str:
    bare = name.removeprefix(".")
    if bare in own:
        return "V"
    is_known = called or name != bare or bare in _KEYWORDS or bare in imported
    return name if is_known else "V"


def _shell(text: str, own: frozenset[str], line: int = 1, depth: int = 0) -> Iterator[Token]:
    at_command, command, argument = True, "", ""
    for match in _SHELL.finditer(text):
        kind, found = match.lastgroup or "", match.group()
        if kind == "line":
            at_command = at_command or not found.startswith("\\")
        elif kind == "opens":
            at_command = True
            if found not in (";", ";;", "{", "("):
                yield Token("$(" if found == "`" else found, line)
        elif kind in ("variable", "redirect"):
            yield Token("V" if kind == "variable" else found.strip("12"), line)
            at_command = at_command and kind != "variable"
        elif kind == "assigned":
            yield Token("V=", line)
        elif kind == "quoted":
            yield from _quoted(found, command, line)
            at_command = False
        elif kind == "word" and at_command:
            command = found.rpartition("/")[2]
            at_command = command in _BEFORE_COMMANDS
            if command not in _SILENT:
                yield Token("V" if command in own else command, line)
        elif kind == "word":
            argument = found
            yield Token(_argument(found), line)
        elif match.group("tag"):
            yield from _shell(match.group("rest"), own, line)
            # what it is written to stands before it or after: `cat > a.py <<E`, `cat <<E > a.py`
            after = match.group("rest").split()
            target = after[-1] if after else argument
            yield from _heredoc(match.group("body"), command, target, line + 1, depth + 1)
            at_command = True
        line += found.count("\n")


def _quoted(text: str, command: str, line: int) -> Iterator[Token]:
    """A program in quotes counts as what it does, any other text as text."""
    if _PROGRAMS.match(command) and len(text) > 8:
        yield from program_tokens(text[1:-1], ".awk", line)
    else:
        yield Token("S", line)


def _heredoc(body: str, command: str, target: str, line: int, depth: int) -> Iterator[Token]:
    """A script that is run or written to a file counts as what it does, other text as its lines."""
    path = target.strip("'\"").casefold()
    is_shell = command in _SHELLS or path.endswith((".sh", ".bash")) or _IS_SHELL.match(body)
    if _PROGRAMS.match(command) or _IS_PROGRAM.match(body):
        yield from program_tokens(body, ".py", line)
    elif is_shell and depth <= _DEEPEST:
        yield from _shell(body, frozenset(), line, depth)
    elif _WRITTEN.search(path):
        yield from program_tokens(body, path, line)
    else:
        for number, text in enumerate(body.splitlines(), line):
            yield Token(f"<{' '.join(text.casefold().split())}>", number)


def _argument(word: str) -> str:
    if word.startswith("-"):
        return word.partition("=")[0]
    if _IS_NUMBER.match(word):
        return "N"
    return "P" if _IS_PATH.search(word) else "W"


def _collapsed(tokens: Iterator[Token]) -> Iterator[Token]:
    """Runs of the same class as one, so that their number says nothing."""
    last = ""
    for token in tokens:
        if token.text != last or token.text not in _REPEATABLE:
            yield token
        last = token.text
