"""One attempt as the tokens that model and shell exchanged: what was sampled is what is trained on.

Text is rendered and tokenised once, when it enters; a model's turn enters as the ids it sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.posttrain.faults import PlatformFault
from arena.posttrain.formats import Format, Message

_DONE: Message = {"role": "assistant", "content": "Done."}


class Dialect:
    """A model's chat template with the form of its commands: renders the turns to ids."""

    def __init__(self, tokenizer: Any, form: Format) -> None:
        self.tokenizer = tokenizer
        self.form = form
        self.end: int = tokenizer.eos_token_id
        self._end_text: str = tokenizer.eos_token
        added = {token.content for token in tokenizer.added_tokens_decoder.values()}
        self._specials = sorted(added | set(tokenizer.all_special_tokens), key=len, reverse=True)

    def opening(self, prompt: str) -> list[int]:
        """The ids from the start to where the model's first turn begins."""
        return self._ids(self._text([_user(self._plain(prompt))], to_answer=True))

    def turn(self, command: str | None) -> list[int]:
        """A turn that gives `command`, or none, as a model would sample it, its end included."""
        message = self.form.answer(self._plain(command)) if command else _DONE
        before = self._text([_user("a task")], to_answer=True)
        return self._ids(self._up_to_end(self._rest([_user("a task"), message], before, False)))

    def observation(self, text: str) -> list[int]:
        """The ids between the end of the model's turn and where its next one begins."""
        turns = [_user("a task"), self.form.answer("true")]
        before = self._up_to_end(self._text(turns, to_answer=False))
        heard = self.form.observation(self._plain(text))
        return self._ids(self._rest([*turns, heard], before, True))

    def _rest(self, messages: list[Message], before: str, to_answer: bool) -> str:
        text = self._text(messages, to_answer)
        if not text.startswith(before):
            told = "The base model's chat template changes earlier turns when later ones follow."
            raise PlatformFault("template_not_supported", told)
        return text[len(before) :]

    def _text(self, messages: list[Message], to_answer: bool) -> str:
        rendered: str = self.tokenizer.apply_chat_template(
            messages, tools=self.form.tools, add_generation_prompt=to_answer, tokenize=False
        )
        return rendered

    def _up_to_end(self, text: str) -> str:
        """Up to the token that ends a turn: a template's line break after it is no model's."""
        at = text.rfind(self._end_text)
        return text[: at + len(self._end_text)] if at >= 0 else text + self._end_text

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _plain(self, text: str) -> str:
        """Text of a task or a command's output, in which no token can end a turn or begin one."""
        for token in self._specials:
            if token in text:
                text = text.replace(token, f"{token[:1]}\u200b{token[1:]}")
        return text


class Conversation:
    """The turns of one attempt so far. `mask` is 1 where the model sampled, 0 where it was told."""

    def __init__(self, dialect: Dialect, prompt: str) -> None:
        self._dialect = dialect
        self.prompt_ids = dialect.opening(prompt)
        self.completion_ids: list[int] = []
        self.mask: list[int] = []
        self.turns = 0
        self.prompt = prompt
        self.heard = ""
        """What the last command printed, as the model was told."""

    @property
    def context(self) -> list[int]:
        """All ids so far: what the next turn is sampled after."""
        return self.prompt_ids + self.completion_ids

    @property
    def turn_is_whole(self) -> bool:
        """Whether the last turn came to its end by itself: only then may another follow."""
        return self.completion_ids[-1:] == [self._dialect.end]

    def say(self, ids: Sequence[int]) -> str | None:
        """Adds a turn of the model's; returns its command."""
        command = self._dialect.form.command_in(ids, self.context)
        self.completion_ids += ids
        self.mask += [1] * len(ids)
        self.turns += 1
        return command

    def hear(self, text: str) -> None:
        """Adds what the command printed, to where the model's next turn begins."""
        self.heard = text
        ids = self._dialect.observation(text)
        self.completion_ids += ids
        self.mask += [0] * len(ids)


def _user(text: str) -> Message:
    return {"role": "user", "content": text}
