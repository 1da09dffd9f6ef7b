"""The model of a run: loaded from a folder, asked with seeds of one's own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import disable_progress_bars
from transformers import AutoModelForCausalLM, AutoTokenizer, LogitsProcessorList, set_seed
from transformers.utils import logging as transformers_logging

from arena.challenges import Recipe


def make_deterministic(seed: int, threads: int) -> None:
    """Fixes whatever in torch could make two runs with one seed differ."""
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(threads)
    set_seed(seed)


def chat(prompt: str) -> list[dict[str, str]]:
    """A task's prompt as the conversation that the model is to continue."""
    return [{"role": "user", "content": prompt}]


class Policy:
    """A causal language model with its tokenizer."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.tokenizer = tokenizer

    @classmethod
    def load(cls, folder: Path, recipe: Recipe) -> Policy:
        transformers_logging.disable_progress_bar()
        disable_progress_bars()
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, local_files_only=True
        )
        return cls(model.to(recipe.device), tokenizer)

    @torch.no_grad()
    def answers(
        self, prompt: str, seeds: Sequence[int], temperature: float, max_new_tokens: int
    ) -> list[str]:
        """One answer per seed. A batch holds one prompt only, so that nothing is padded:
        an answer does not depend on what other tasks there are."""
        self.model.eval()
        encoded = self.tokenizer.apply_chat_template(
            [chat(prompt)] * len(seeds),
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        ).to(self.model.device)
        processors = LogitsProcessorList()
        if temperature > 0:
            processors.append(_SeededSampling(seeds, temperature))
        output = self.model.generate(
            **encoded,
            max_new_tokens=max_new_tokens,
            do_sample=False,
            logits_processor=processors,
        )
        new_tokens = output[:, encoded["input_ids"].shape[1] :]
        texts: list[str] = self.tokenizer.batch_decode(new_tokens, skip_special_tokens=True)
        return texts

    def token_count(self, messages: list[dict[str, str]]) -> int:
        encoded = self.tokenizer.apply_chat_template(messages, tokenize=True, return_dict=True)
        return len(encoded["input_ids"])

    def weights_digest(self) -> str:
        """sha256 over the names and bytes of all weights."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(name.encode() + b"\0")
            digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()


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
