"""Whether this machine can run a recipe: asked before a run is leased."""

from __future__ import annotations

import shutil

import torch

from arena.challenges import Recipe
from arena.posttrain.served import COMMAND


def what_recipe_lacks(recipe: Recipe, has_teacher: bool) -> str | None:
    """What this machine lacks for `recipe`; None where it lacks nothing."""
    if lack := _what_device_lacks(recipe):
        return lack
    if recipe.server and not shutil.which(COMMAND):
        return f"recipe {recipe.name} needs the command {COMMAND}, which is not on the PATH"
    if recipe.demonstrations != "oracle" and not has_teacher:
        return f"recipe {recipe.name} needs a teacher: set ARENA_TEACHER_URL"
    return None


def _what_device_lacks(recipe: Recipe) -> str | None:
    if recipe.device == "cpu":
        return None
    if not torch.cuda.is_available():
        return f"recipe {recipe.name} needs a CUDA device, and PyTorch finds none here"
    if recipe.dtype == "bfloat16" and not torch.cuda.is_bf16_supported():
        return f"recipe {recipe.name} computes in bfloat16, which the CUDA device cannot"
    has = torch.cuda.get_device_properties(0).total_memory / 2**30
    if recipe.gpu_memory_gb and has < recipe.gpu_memory_gb:
        wants = f"{recipe.gpu_memory_gb:g} GB of GPU memory"
        return f"recipe {recipe.name} needs {wants}, and the CUDA device has {has:.0f} GB"
    return None
