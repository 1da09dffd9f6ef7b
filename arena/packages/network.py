"""What a package's scripts take from the network when they run: shell and Python read alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

from arena.packages.inline import inline_programs
from arena.packages.installs import Download, Install, downloads, installs, is_remote, split_words
from arena.packages.pythontext import MAX_CONSTANT, PythonFile, dotted
from arena.packages.shell import ShellScript

_FETCH = ("urllib.request.urlopen", "urllib.request.urlretrieve", "urllib.request.Request")
_VERBS = frozenset({"get", "post", "put", "head", "request", "stream", "patch", "delete"})
_MAY_FETCH = re.compile(
    r"urllib|requests|httpx|huggingface_hub|datasets|pandas|numpy|polars|subprocess|system|popen|nltk"
)
_CLIENTS = frozenset({"requests", "httpx"})
_HUB = frozenset({"hf_hub_download", "snapshot_download", "load_dataset"})
_READERS = frozenset({"pandas", "numpy", "polars", "pd", "np", "pl"})
_LOCAL_FORMATS = frozenset({"csv", "json", "parquet", "text", "arrow", "imagefolder"})
_RUNNERS = frozenset(
    {"subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
     "subprocess.Popen", "os.system", "os.popen", "subprocess.getoutput"}
)  # fmt: skip
MAX_WORDS = 1_000
MAX_COMMANDS_LENGTH = 1024 * 1024
"""The commands of one file in all: a constant can stand in very many of them."""


def fetched_by_shell(script: ShellScript) -> Iterator[Install | Download]:
    """What a shell script installs or downloads, in its order."""
    yield from installs(script)
    yield from downloads(script)
    for inline in inline_programs(script):
        if isinstance(inline.program, PythonFile):
            below = fetched_by_python(inline.program)
        else:
            below = chain(installs(inline.program), downloads(inline.program))
        for found in below:
            yield found._replace(line=inline.line + found.line - 1)


def fetched_by_python(file: PythonFile) -> Iterator[Install | Download]:
    """What a Python file installs or downloads, through subprocesses too."""
    if not _MAY_FETCH.search(file.text):
        return
    room = MAX_COMMANDS_LENGTH
    for name, call in file.calls:
        first = call.args[0] if call.args else _keyword(call)
        text = file.text_of(first)
        if name in _RUNNERS:
            command = text if text is not None else _command(file, first)
            room -= len(command or "")
            if room < 0:
                return
            for found in fetched_by_shell(ShellScript(command or "", file.allowance)):
                yield found._replace(line=call.lineno)
        elif _fetches(name, text, call, file):
            yield Download(f"{name}({text!r})"[:80] if text else f"{name}(…)", call.lineno)


def _fetches(name: str, text: str | None, call: ast.Call, file: PythonFile) -> bool:
    if name == "nltk.download":
        return True
    package, _, function = name.rpartition(".")
    root = name.partition(".")[0]
    if function in _HUB and root in {"huggingface_hub", "datasets"}:
        return text not in _LOCAL_FORMATS and not (text or "").startswith((".", "/"))
    if root in _CLIENTS and function in _VERBS and function in {"request", "stream"}:
        text = file.text_of(call.args[1]) if len(call.args) > 1 else text
    addressed = (
        name in _FETCH
        or (root in _CLIENTS and function in _VERBS)
        or (root in _READERS and package and function.startswith(("read_", "genfromtxt", "load")))
    )
    return bool(addressed and text and is_remote(text))


def _command(file: PythonFile, node: ast.expr | None) -> str | None:
    """A list of arguments as one command line; what is not constant becomes a variable."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return file.text_of(node.func.value) if node.func.attr == "split" else None
    if not isinstance(node, ast.List | ast.Tuple):
        return None
    words = [_word(file, element) for element in node.elts[:MAX_WORDS]]
    if len(words) == 1 and len(words[0]) <= MAX_CONSTANT:
        words = split_words(words[0])
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


def _word(file: PythonFile, node: ast.expr) -> str:
    if dotted(node) == "sys.executable":
        return "python3"
    return file.text_of(node) or "$x"


def _keyword(call: ast.Call) -> ast.expr | None:
    named = {"url", "path", "repo_id", "args", "filepath_or_buffer"}
    return next((k.value for k in call.keywords if k.arg in named), None)
