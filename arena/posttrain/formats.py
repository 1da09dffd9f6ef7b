"""The forms in which a model gives a command: a fenced block, or a call of the tool `shell`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

from trl.chat_template_utils import add_response_schema, parse_response

from arena.challenges import FormatName
from arena.posttrain.faults import PlatformFault

Message = dict[str, Any]

_FENCE = re.compile(r"```(?:bash|sh)\n(.*?)```", re.DOTALL)
SHELL: Message = {
    "type": "function",
    "function": {
        "name": "shell",
        "description": "Run a command with sh in the task's container.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command."}},
            "required": ["command"],
        },
    },
}


class Format(Protocol):
    """One form. Its messages are rendered by the model's own chat template."""

    @property
    def tools(self) -> list[Message] | None:
        """What the template is told of tools."""

    def answer(self, command: str) -> Message:
        """The assistant's message that gives `command`."""

    def observation(self, text: str) -> Message:
        """The message that says what a command printed."""

    def command_in(self, ids: Sequence[int], context: Sequence[int], /) -> str | None:
        """The command of a turn that was sampled after `context`; None where it has none."""


class FencedBlock:
    """The first fenced block of an answer: for models too small for tools."""

    tools = None

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def answer(self, command: str) -> Message:
        return {"role": "assistant", "content": f"```bash\n{command}\n```"}

    def observation(self, text: str) -> Message:
        return {"role": "user", "content": text}

    def command_in(self, ids: Sequence[int], _context: Sequence[int]) -> str | None:
        match = _FENCE.search(self._tokenizer.decode(ids, skip_special_tokens=True))
        return (match[1].strip() or None) if match else None


class ToolCalls:
    """Calls of the one tool, in the form that the model's chat template teaches.

    Of several calls in one turn the first is run.

    Raises:
        PlatformFault: nothing is known that reads this template's calls.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.tools = [SHELL]
        if getattr(tokenizer, "response_template", None) is None:
            try:
                add_response_schema(tokenizer)
            except ValueError:
                told = "The base model's chat template has no tool calls that this version reads."
                raise PlatformFault("template_not_supported", told) from None

    def answer(self, command: str) -> Message:
        call = {"name": "shell", "arguments": {"command": command}}
        tool_calls = [{"type": "function", "function": call}]
        return {"role": "assistant", "content": "", "tool_calls": tool_calls}

    def observation(self, text: str) -> Message:
        return {"role": "tool", "name": "shell", "content": text}

    def command_in(self, ids: Sequence[int], context: Sequence[int]) -> str | None:
        told = parse_response(self._tokenizer, list(ids), prefix=list(context), tools=self.tools)
        for call in told.get("tool_calls") or ():
            arguments = call["function"]["arguments"]
            command = arguments.get("command") if isinstance(arguments, dict) else None
            if call["function"]["name"] != "shell" or not isinstance(command, str):
                return None
            return command.strip() or None
        return None


_FORMATS: dict[FormatName, type[FencedBlock] | type[ToolCalls]] = {
    "fenced": FencedBlock,
    "tool-calls": ToolCalls,
}


def format_named(name: FormatName, tokenizer: Any) -> Format:
    return _FORMATS[name](tokenizer)


def command_of(script: str) -> str:
    """A script as a command, without what only a file needs: its shebang and comments."""
    lines = (line for line in script.splitlines() if line.strip() and not line.startswith("#"))
    return "\n".join(lines)
