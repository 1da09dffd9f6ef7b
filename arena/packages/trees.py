"""Syntax trees of hostile text: tree-sitter's parsers, with an end to what they may cost.

Honest text takes about 0.1 µs a byte. Some texts take time by the square of their length
(`a|a|a|…`, `f() f() …`), partly in steps that nothing in the process can stop. So a long text is
tried in a process of its own first, and all texts of a package share one allowance of time.
"""

from __future__ import annotations

import subprocess
import sys
import time

from tree_sitter import Language, Node, Parser

_LONG = 8 * 1024
_TRIAL = """\
import importlib, sys, tree_sitter
language = tree_sitter.Language(importlib.import_module(sys.argv[1]).language())
tree_sitter.Parser(language).parse(sys.stdin.buffer.read())
"""
_TRIAL_SECONDS = 3.0
SECONDS = 5.0


class Allowance:
    """The time that one package's trees may take, in seconds of this thread."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._left = seconds

    def parse(self, grammar: str, language: Language, text: str) -> Node | None:
        """The root of a text's tree; None where the text is made to take far too long.

        `grammar` is the module that gives `language`.
        """
        data = text.encode("utf-8", "replace")
        if self._left <= 0:
            return None
        if len(data) > _LONG and not _ends_in_time(grammar, data):
            self._left -= _TRIAL_SECONDS
            return None
        began = time.thread_time()
        root = Parser(language).parse(data).root_node
        self._left -= time.thread_time() - began
        return root


def _ends_in_time(grammar: str, data: bytes) -> bool:
    command = [sys.executable, "-I", "-c", _TRIAL, grammar]
    try:
        done = subprocess.run(
            command, input=data, timeout=_TRIAL_SECONDS, check=False, stderr=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
