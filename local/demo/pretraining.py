"""Pre-trains the demo's base model: a small LFM2, from nothing, on two CPU cores."""

from __future__ import annotations

import os
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn.functional import cross_entropy
from transformers import Lfm2Config, Lfm2ForCausalLM, PreTrainedTokenizerFast

from local.demo.base_text import ASSISTANT, END, USER, documents

_PAD = "<|pad|>"
_SPECIAL = (_PAD, USER, ASSISTANT, END)
_CHAT_TEMPLATE = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
_CARD = """\
---
license: apache-2.0
library_name: transformers
pipeline_tag: text-generation
---

# Demo base

The base model of the arena's `demo` challenge: {millions:.2f} M parameters, pre-trained on
generated text. It knows a little shell. It is of no use elsewhere.
"""


@dataclass(frozen=True)
class Pretraining:
    """All that decides how the base comes out, beside the sources."""

    seed: int = 0
    threads: int = 2
    hidden_size: int = 128
    heads: int = 4
    vocabulary: int = 1536
    batch: int = 48
    row_tokens: int = 80
    copying_steps: int = 700
    copying_loss: float = 0.05
    copying_rate: float = 6e-3
    text_steps: int = 800
    text_rate: float = 2e-3
    tokenizer_documents: int = 9000
    requests: float = 0.6
    good: float = 0.25


def training_text(pretraining: Pretraining) -> list[str]:
    """Every document that the model and its tokenizer are trained on, in order."""
    count = pretraining.text_steps * pretraining.batch
    return list(documents(pretraining.seed, count, pretraining.requests, pretraining.good))


def pretrain(out: Path, pretraining: Pretraining) -> None:
    """Writes the model and its tokenizer to the folder `out`."""
    began = time.monotonic()
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(pretraining.threads)
    torch.manual_seed(pretraining.seed)
    text = training_text(pretraining)
    tokenizer = _make_tokenizer(text[: pretraining.tokenizer_documents], pretraining)
    model = _make_model(tokenizer, pretraining)
    _Pretrainer(model, tokenizer, pretraining, began).run(text)
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    (out / "README.md").write_text(_CARD.format(millions=_parameters(model) / 1e6))


def _make_tokenizer(text: list[str], pretraining: Pretraining) -> Any:
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=pretraining.vocabulary,
        special_tokens=list(_SPECIAL),
        show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    bpe.train_from_iterator(_without_special(text), trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        pad_token=_PAD,
        eos_token=END,
        padding_side="left",
        additional_special_tokens=[USER, ASSISTANT],
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = _CHAT_TEMPLATE
    tokenizer.model_max_length = 256
    return tokenizer


def _without_special(text: list[str]) -> list[str]:
    """The pieces between the special tokens, which are no text to learn merges from."""
    pieces = []
    for document in text:
        for token in _SPECIAL:
            document = document.replace(token, "\0")
        pieces += [piece for piece in document.split("\0") if piece]
    return pieces


def _make_model(tokenizer: Any, pretraining: Pretraining) -> Any:
    """An LFM2: its short convolution hands attention the previous token.

    So copying from the context is learned in some 400 steps; a plain transformer of this size had
    not learned it after 600.
    """
    layer_types = ["conv", "full_attention", "conv"]
    config = Lfm2Config(
        vocab_size=len(tokenizer),
        hidden_size=pretraining.hidden_size,
        intermediate_size=2 * pretraining.hidden_size,
        block_auto_adjust_ff_dim=False,
        num_hidden_layers=len(layer_types),
        layer_types=layer_types,
        conv_L_cache=3,
        num_attention_heads=pretraining.heads,
        num_key_value_heads=pretraining.heads,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return Lfm2ForCausalLM(config)


class _Pretrainer:
    """Two phases with one optimizer: random tokens repeated, then the text."""

    def __init__(self, model: Any, tokenizer: Any, pretraining: Pretraining, began: float) -> None:
        self.model, self.tokenizer, self.settings, self.began = model, tokenizer, pretraining, began
        self.rng = random.Random(pretraining.seed)
        self.optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.0, betas=(0.9, 0.98))

    def run(self, text: list[str]) -> None:
        self.model.train()
        self._learn_copying()
        self._learn_text(text)

    def _learn_copying(self) -> None:
        s = self.settings
        for step in range(s.copying_steps):
            loss = self._copying_loss(s.batch)
            self._update(loss, s.copying_rate * min(1.0, (step + 1) / 50))
            done = step > 50 and loss.item() < s.copying_loss
            if step % 50 == 0 or done:
                self._report("copying", step, s.copying_steps, loss)
            if done:
                return

    def _learn_text(self, text: list[str]) -> None:
        s = self.settings
        for step in range(s.text_steps):
            rows = text[step * s.batch : (step + 1) * s.batch]
            loss = self._text_loss(rows) + 0.3 * self._copying_loss(s.batch // 3)
            self._update(loss, s.text_rate * (1 - step / s.text_steps) + 1e-5)
            if step % 50 == 0 or step == s.text_steps - 1:
                self._report("text", step, s.text_steps, loss)

    def _copying_loss(self, rows: int) -> torch.Tensor:
        """The loss on the second half of rows that say the same random tokens twice."""
        vocabulary = len(self.tokenizer)
        length = self.rng.randint(4, 20)
        half = torch.randint(len(_SPECIAL), vocabulary, (rows, length))
        ids = torch.cat([half, half], 1)
        logits = self.model(input_ids=ids).logits[:, length:-1]
        return cross_entropy(logits.reshape(-1, vocabulary), ids[:, length + 1 :].reshape(-1))

    def _text_loss(self, rows: list[str]) -> torch.Tensor:
        batch = self.tokenizer(
            rows,
            padding=True,
            padding_side="right",
            truncation=True,
            max_length=self.settings.row_tokens,
            return_tensors="pt",
        )
        labels = batch.input_ids.masked_fill(batch.attention_mask == 0, -100)
        loss: torch.Tensor = self.model(
            input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=labels
        ).loss
        return loss

    def _update(self, loss: torch.Tensor, rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()

    def _report(self, phase: str, step: int, steps: int, loss: torch.Tensor) -> None:
        seconds = time.monotonic() - self.began
        say(f"{phase} {step + 1}/{steps}, loss {loss.item():.3f}, {seconds:.0f} s")


def _parameters(model: Any) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def say(line: str) -> None:
    """One line of progress."""
    print(f"demo base: {line}", file=sys.stderr, flush=True)
