"""What a copyist does to the code of oracle and verifier, so that it still does the same."""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import random
import re
import tokenize
from collections.abc import Callable

Change = Callable[[str, random.Random], str]

_HEREDOC = re.compile(r"(?ms)^([^\n]*<<'(PY|SH)'[^\n]*\n)(.*?\n)(\2\n)")
_NAMES = [
    *("item", "thing", "entry", "val", "acc", "buf", "cur", "res", "obj", "elem", "chunk", "rec"),
    *("left_part", "right_part", "collected", "current", "bucket", "lookup", "pending", "total_of"),
    *("helper", "ctx", "piece", "tmp", "holder", "stash", "cursor", "marker", "slot", "amount_of"),
]
_COMMENTS = [
    *(
        "take the next one",
        "see the task's text",
        "this is the tricky part",
        "nothing special here",
    ),
    *("keep it simple", "done once for all", "order matters", "guard against surprises"),
    *("the usual way", "read from the input", "what is left over", "same as in the first version"),
]
_FIXED = {*keyword.kwlist, *dir(builtins), "tmp_path", "self", "main"}


def apply(package: dict[str, str], python: Change, shell: Change, chance: random.Random) -> None:
    """Changes all code of oracle and verifier in place, but for the verifier's `test.sh`."""
    for path, text in list(package.items()):
        if path.startswith(("oracle/", "verifier/")) and path.endswith(".py"):
            package[path] = python(text, chance)
        elif path.startswith("oracle/") and path.endswith(".sh"):
            package[path] = _in_shell(text, python, shell, chance)


def _in_shell(text: str, python: Change, shell: Change, chance: random.Random) -> str:
    """Changes a script and the scripts that stand in it as here-documents."""
    inner: list[str] = []

    def take(found: re.Match[str]) -> str:
        change = python if found[2] == "PY" else shell
        inner.append(f"{found[1]}{change(found[3], chance)}{found[4]}")
        return f"# \ue000{len(inner) - 1}\n"

    changed = shell(_HEREDOC.sub(take, text), chance)
    return re.sub("[ \t]*# \ue000(\\d+)\n", lambda found: inner[int(found[1])], changed)


def unchanged(text: str, _: random.Random) -> str:
    return text


def renamed(text: str, chance: random.Random) -> str:
    """Python with other names for all that it binds itself, wherever that is safe to do."""
    tree = ast.parse(text)
    bound = _bound(tree) - _untouchable(tree)
    fresh = [name for name in _NAMES if name not in text]
    chance.shuffle(fresh)
    new = {}
    for number, name in enumerate(sorted(bound)):
        base = fresh[number % len(fresh)] + (str(number) if number >= len(fresh) else "")
        new[name] = f"test_{base}" if name.startswith("test_") else base
    if not new:
        return text
    words = "|".join(sorted(map(re.escape, new), key=len, reverse=True))
    return re.sub(rf"(?<![\w.\\!])(?:{words})(?![\w\"'])", lambda found: new[found[0]], text)


def _bound(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return {name for name in names if not name.startswith("__")}


def _untouchable(tree: ast.AST) -> set[str]:
    """Names that also stand for something else: in texts, as attributes, arguments, imports."""
    names = set(_FIXED)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.update(re.findall(r"\w+", f"{node.name} {node.asname or ''}"))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.update(re.findall(r"[A-Za-z_]\w*", node.value))
    return names


def shell_renamed(text: str, chance: random.Random) -> str:
    """A shell script with other names for variables that stand nowhere but as variables."""
    for name in sorted(set(re.findall(r"(?m)(?:^|[;\s])([a-z]\w+)=", text))):
        printed = re.search(rf"(?m)(?:echo|printf|-).*\b{name}=", text)
        uses = len(re.findall(rf"(?<![\w$]){name}=|\$\{{?{name}\b", text))
        if not printed and uses == len(re.findall(rf"\b{name}\b", text)):
            text = re.sub(rf"\b{name}\b", f"{chance.choice(_NAMES)}_{name[0]}", text)
    return text


def unparsed(text: str, _: random.Random) -> str:
    """Python as a formatter lays it out that knows nothing but the syntax tree."""
    return ast.unparse(ast.parse(text)) + "\n"


def spaced(text: str, chance: random.Random) -> str:
    """Python or shell with other empty lines and, where no text spans lines, other indentation."""
    spans = '"""' in text or "'''" in text
    lines = []
    for line in text.splitlines():
        bare = line.lstrip(" ")
        wide = " " * ((len(line) - len(bare)) // 2 if not spans else len(line) - len(bare))
        lines.append((wide + bare).rstrip())
        if line and not line.startswith((" ", "#", "}", ")", "]")) and line.endswith((")", '"')):
            lines += [""] * chance.randint(0, 1)
    return "\n".join(lines) + "\n"


def shell_spaced(text: str, _: random.Random) -> str:
    """A shell script with its indentation doubled."""
    return re.sub(r"(?m)^( +)", r"\1\1", text)


def commented(text: str, chance: random.Random) -> str:
    """Python with a comment before about half of its statements."""
    starts = {
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and not getattr(node, "decorator_list", None)
    }
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        own = line.lstrip().startswith(("elif", "else", "except", "finally"))
        if number in starts and not own and chance.random() < 0.5:
            lines.append(line[: len(line) - len(line.lstrip())] + f"# {chance.choice(_COMMENTS)}")
        lines.append(line)
    return "\n".join(lines) + "\n"


def uncommented(text: str, chance: random.Random) -> str:
    """Python without comments; where it has none, with some."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    lines = text.splitlines(keepends=True)
    comments = [one for one in tokens if one.type == tokenize.COMMENT]
    for token in reversed(comments):
        row, column = token.start
        lines[row - 1] = lines[row - 1][:column].rstrip() + "\n"
    return "".join(lines) if comments else commented(text, chance)


def shell_commented(text: str, chance: random.Random) -> str:
    """A shell script with comments below its head and at its end."""
    head = re.match(r"(?:#!.*\n)?(?:set .*\n)?(?:cd .*\n)?", text)
    place = head.end() if head else 0
    notes = [f"# {one}\n" for one in chance.sample(_COMMENTS, 3)]
    return text[:place] + "".join(notes[:2]) + text[place:] + notes[2]


def functions_shuffled(text: str, chance: random.Random) -> str:
    """Python in which neighbouring functions of the top level have changed places."""
    lines = text.splitlines()
    body = ast.parse(text).body
    runs: list[list[ast.FunctionDef]] = [[]]
    for node in body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            runs[-1].append(node)
        elif runs[-1]:
            runs.append([])
    for run in reversed(runs):
        if len(run) > 1:
            ends = [node.end_lineno or node.lineno for node in run]
            whole = [lines[node.lineno - 1 : end] for node, end in zip(run, ends, strict=True)]
            chance.shuffle(whole)
            laid = [line for one in whole for line in (*one, "", "")]
            lines[run[0].lineno - 1 : ends[-1]] = laid[:-2]
    return "\n".join(lines) + "\n"
