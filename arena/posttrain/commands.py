"""The form in which a model gives a command: the first fenced block of its answer."""

from __future__ import annotations

import re

_FENCE = re.compile(r"```(?:bash|sh)\n(.*?)```", re.DOTALL)


def command_in(answer: str) -> str | None:
    """The command of an answer; None where it has none."""
    match = _FENCE.search(answer)
    return (match[1].strip() or None) if match else None


def answer_with(script: str) -> str:
    """The answer that gives `script`, without what only a file needs: its shebang and comments."""
    lines = (line for line in script.splitlines() if line.strip() and not line.startswith("#"))
    return "```bash\n" + "\n".join(lines) + "\n```"
