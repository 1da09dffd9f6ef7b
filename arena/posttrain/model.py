"""The model of a run: loaded from a folder, with what of it is trained and how that changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from datasets import disable_progress_bars
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed
from transformers.utils import logging as transformers_logging

from arena.challenges import LoraSettings, Recipe
from arena.report import TensorChange


def make_deterministic(seed: int, threads: int) -> None:
    """Fixes whatever in torch could make two runs with one seed differ."""
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(threads)
    set_seed(seed)


class Policy:
    """A causal language model with its tokenizer; all of it is trained, or an adapter on it."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.tokenizer = tokenizer

    @classmethod
    def load(cls, folder: Path, recipe: Recipe) -> Policy:
        """The base model. A fresh adapter is random in one half and zero in the other: with it
        the model is the base model still."""
        transformers_logging.disable_progress_bar()
        disable_progress_bars()
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, recipe.dtype), local_files_only=True
        ).to(recipe.device)
        if recipe.lora:
            model = get_peft_model(model, _lora(recipe.lora))
        return cls(model, tokenizer)

    def weights_digest(self) -> str:
        """sha256 over the names and bytes of all weights."""
        return digest_of(self.model.state_dict())

    def trained_digest(self) -> str:
        """The same over the weights that training may change."""
        return digest_of(self._trained())

    def trained_copy(self) -> dict[str, torch.Tensor]:
        """The trained weights as they are now."""
        return {name: tensor.cpu().clone() for name, tensor in self._trained().items()}

    @torch.no_grad()
    def put_trained(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Gives the trained weights other values, such as `trained_copy` had."""
        for name, tensor in self._trained().items():
            tensor.copy_(weights[name])

    def changes_since(self, copy: dict[str, torch.Tensor]) -> tuple[TensorChange, ...]:
        """Per trained tensor its norm in `copy`, and the norm of what has changed since."""
        return tuple(
            TensorChange(
                name=name,
                norm=round(float(copy[name].float().norm()), 6),
                change=round(float((tensor.cpu().float() - copy[name].float()).norm()), 6),
            )
            for name, tensor in sorted(self._trained().items())
        )

    def _trained(self) -> dict[str, torch.Tensor]:
        return {n: p.detach() for n, p in self.model.named_parameters() if p.requires_grad}


def _lora(settings: LoraSettings) -> LoraConfig:
    return LoraConfig(
        task_type="CAUSAL_LM",
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=0.0,
        target_modules=list(settings.target_modules),
    )


def digest_of(tensors: Mapping[str, torch.Tensor]) -> str:
    """sha256 over names and bytes, by name."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode() + b"\0")
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
