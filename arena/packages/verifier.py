"""Checks of `verifier/`: its description, and whether its verdict can ever change."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from arena.packages.document import Document, DocumentError, parse_document
from arena.packages.findings import Finding, error, shown

STRATEGY_TYPES = ("script", "llm-judge", "reward-kit", "agent-judge", "ors-episode")

_REWARD_WRITE = re.compile(
    r"""(?:echo|printf)\s+(?:-n\s+)?(?:'%s(?:\\n)?'\s+)?["']?(?P<value>[0-9.]+)(?:\\n)?["']?\s*
        >{1,2}\s*\S*(?:reward\.txt|BENCHFLOW_REWARD_TEXT)""",
    re.X,
)
_REWARD_NAME = re.compile(r"reward\.(txt|json)|BENCHFLOW_REWARD")
_DECIDES = re.compile(r"(^|\s|;)(if|case|while|until)\b|&&|\|\||\bset\s+-[a-z]*e|\bexit\s+[^0\s]")


def check_verifier(texts: Mapping[str, str], files: set[str]) -> Iterator[Finding]:
    """The findings of verifier.md and test.sh; missing files are reported elsewhere."""
    if text := texts.get("verifier/verifier.md"):
        yield from _check_description(text, files)
    if text := texts.get("verifier/test.sh"):
        yield from _check_constant(text, texts)


def _check_description(text: str, files: set[str]) -> Iterator[Finding]:
    hint = "Declare verifier.strategies.<name> with type: script and its command."
    try:
        document = parse_document(text)
    except DocumentError as exc:
        yield error("TP011", exc.message, "verifier/verifier.md", hint, exc.line)
        return
    problem, path = _strategy_problem(document, files)
    if problem:
        yield error("TP011", problem, "verifier/verifier.md", hint, document.line_of(path))


def _strategy_problem(document: Document, files: set[str]) -> tuple[str | None, tuple[str, ...]]:
    verifier = document.front_matter.get("verifier")
    strategies = verifier.get("strategies") if isinstance(verifier, dict) else None
    if not isinstance(verifier, dict) or not isinstance(strategies, dict) or not strategies:
        return "verifier.strategies is missing", ("verifier",)
    name = verifier.get("default_strategy")
    if not isinstance(name, str) or name not in strategies:
        return f"default_strategy {shown(name)} is not declared", ("verifier", "default_strategy")
    strategy: Any = strategies[name]
    kind = strategy.get("type") if isinstance(strategy, dict) else None
    path = ("verifier", "strategies", name)
    if kind not in STRATEGY_TYPES:
        return f"the strategy's type {shown(kind)} is none of {', '.join(STRATEGY_TYPES)}", path
    if kind != "script":
        return f"the strategy's type {kind} is not run here yet; script is", path
    command = strategy.get("command")
    if not isinstance(command, str) or not command.strip():
        return "the strategy has no command", path
    return _command_problem(command, files), (*path, "command")


def _command_problem(command: str, files: set[str]) -> str | None:
    try:
        words = shlex.split(command)
    except ValueError as exc:
        return f"the command {shown(command)} cannot be read: {exc}"
    for word in words:
        own = re.sub(r"^/?(verifier|tests)/", "verifier/", word.removeprefix("./"))
        if own.startswith("verifier/") and own not in files:
            return f"the command names {shown(word)}, which is not in verifier/"
    return None


def _check_constant(script: str, texts: Mapping[str, str]) -> Iterator[Finding]:
    """A script that writes one number, whatever happened, judges nothing."""
    lines = [(n, line.strip()) for n, line in enumerate(script.splitlines(), 1)]
    code = [(n, line) for n, line in lines if line and not line.startswith("#")]
    writes = [(n, line) for n, line in code if _REWARD_NAME.search(line) and ">" in line]
    values = {value for _, line in writes for value in _written_values(line)}
    decided_here = any(_DECIDES.search(line) for _, line in code)
    decided_in_python = any(
        _REWARD_NAME.search(text)
        for path, text in texts.items()
        if path.startswith("verifier/") and path.endswith(".py")
    )
    if not writes or len({_number(value) for value in values if value}) != 1 or None in values:
        return
    if not decided_here and not decided_in_python:
        yield error(
            "TP012",
            f"the reward is always {next(iter(values))}, whatever the agent did",
            "verifier/test.sh",
            "Write the reward that the checks gave: 1 where all passed, else 0.",
            writes[0][0],
        )


def _number(value: str) -> float | str:
    """What is written, so that 1 and 1.0 are one value; `1.2.3` is no number, and stays text."""
    try:
        return float(value)
    except ValueError:
        return value


def _written_values(line: str) -> list[str | None]:
    """The numbers that a line writes as the reward; None for what is no plain number."""
    return [match["value"] for match in _REWARD_WRITE.finditer(line)] or [None]
