"""Demonstrations by a teacher: a model behind an OpenAI-compatible endpoint, asked turn by turn.

The teacher has a chat and a tokenizer of its own. What it commands enters the student's
conversation as a turn that the student could have sampled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import httpx
from huggingface_hub.utils import http_backoff  # type: ignore[attr-defined]

from arena.challenges import TeacherSettings
from arena.posttrain.conversation import Conversation, Dialect
from arena.posttrain.faults import PlatformFault
from arena.posttrain.formats import SHELL, Message

REQUEST_SECONDS = 300.0
RETRY_SECONDS = 1.0
"""Before the first retry where the endpoint is busy; each next one waits twice as long."""


@dataclass(frozen=True)
class Endpoint:
    """Where an OpenAI-compatible endpoint is (`…/v1`); the key is never logged."""

    url: str
    key: str | None = field(default=None, repr=False)


class Teacher:
    """A model that is asked for commands."""

    def __init__(self, endpoint: Endpoint, settings: TeacherSettings) -> None:
        self._url = f"{endpoint.url.rstrip('/')}/chat/completions"
        self._headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        self._settings = settings

    def answer(self, messages: list[Message], seed: int) -> Message:
        """The teacher's next message.

        Raises:
            PlatformFault: the endpoint gave none.
        """
        settings = self._settings
        asked = {
            "model": settings.model,
            "messages": messages,
            "tools": [SHELL],
            "temperature": settings.temperature,
            "max_tokens": settings.max_new_tokens,
            "seed": seed,
        }
        try:
            answer = http_backoff(
                "POST",
                self._url,
                json=asked,
                headers=self._headers,
                timeout=REQUEST_SECONDS,
                base_wait_time=RETRY_SECONDS,
            )
            return _as_sent(answer.raise_for_status().json()["choices"][0]["message"])
        except (httpx.HTTPError, ValueError, LookupError, TypeError) as exc:
            kind = type(exc).__name__
        raise PlatformFault("teacher_failed", f"The teacher gave no answer: {kind}.")


class TeacherTurns:
    """One attempt of the teacher's: its next turn, in the student's ids."""

    def __init__(self, teacher: Teacher, dialect: Dialect, seed: int) -> None:
        self._teacher, self._dialect, self._seed = teacher, dialect, seed
        self._messages: list[Message] = []

    def __call__(self, conversation: Conversation) -> list[int]:
        if not conversation.turns:
            self._messages = [{"role": "user", "content": conversation.prompt}]
        else:
            self._messages.append(_observed(self._messages[-1], conversation.heard))
        message = self._teacher.answer(self._messages, self._seed + conversation.turns)
        self._messages.append(message)
        return self._dialect.turn(_command(message))


def _as_sent(message: dict[str, Any]) -> Message:
    """A message of the teacher's as it is sent back with the next question: one call of a turn."""
    sent: Message = {"role": "assistant", "content": message["content"] or ""}
    if calls := message.get("tool_calls"):
        function = {name: calls[0]["function"][name] for name in ("name", "arguments")}
        sent["tool_calls"] = [{"id": calls[0]["id"], "type": "function", "function": function}]
    return sent


def _observed(asked: Message, text: str) -> Message:
    return {"role": "tool", "tool_call_id": asked["tool_calls"][0]["id"], "content": text}


def _command(message: Message) -> str | None:
    """The command that a message calls the shell with; None where it calls nothing it can."""
    for call in message.get("tool_calls", ()):
        function = call["function"]
        try:
            command = json.loads(function["arguments"])["command"]
        except (ValueError, TypeError, KeyError):
            return None
        if function["name"] == SHELL["function"]["name"] and isinstance(command, str):
            return command.strip() or None
    return None
