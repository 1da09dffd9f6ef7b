"""Sampling turns from the policy in this process, with seeds of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import torch
from transformers import LogitsProcessorList

from arena.posttrain.model import Policy


class InProcess:
    """Samples from the policy as it is now.

    A batch holds one context only, so that nothing is padded: what is sampled does not depend on
    what other tasks there are. Threads take turns.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._lock = Lock()

    def refresh(self) -> None:
        """Nothing to do: it is this process's own policy."""

    @torch.no_grad()
    def sample(
        self, context: Sequence[int], seeds: Sequence[int], temperature: float, max_tokens: int
    ) -> list[list[int]]:
        with self._lock:
            model = self._policy.model
            was_training = model.training
            model.eval()
            try:
                return self._generate(model, context, seeds, temperature, max_tokens)
            finally:
                model.train(was_training)

    def _generate(
        self,
        model: Any,
        context: Sequence[int],
        seeds: Sequence[int],
        temperature: float,
        max_tokens: int,
    ) -> list[list[int]]:
        tokenizer = self._policy.tokenizer
        ids = torch.tensor([list(context)] * len(seeds), device=model.device)
        processors = LogitsProcessorList()
        if temperature > 0:
            processors.append(_SeededSampling(seeds, temperature))
        output = model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=max_tokens,
            do_sample=False,
            logits_processor=processors,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
        return [_to_end(row, tokenizer.eos_token_id) for row in output[:, ids.shape[1] :].tolist()]


def _to_end(ids: list[int], end: int) -> list[int]:
    """Without the padding that follows the end in a batch."""
    return ids[: ids.index(end) + 1] if end in ids else ids


class _SeededSampling:
    """Makes the greedy choice a sample, with a random stream per row (the Gumbel-max trick)."""

    def __init__(self, seeds: Sequence[int], temperature: float) -> None:
        self._streams = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._temperature = temperature

    def __call__(self, _input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        noise = torch.stack(
            [torch.empty(scores.shape[1]).exponential_(generator=s).log() for s in self._streams]
        )
        return scores / self._temperature - noise.to(scores.device)
