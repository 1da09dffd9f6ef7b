"""A server that speaks what vLLM speaks, with a model of this process: vLLM itself wants a GPU.

As a program it takes vLLM's command line. What it samples for a seed is what the trainer's own
process samples for it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from arena.posttrain.model import Policy, make_deterministic
from arena.posttrain.sampling import InProcess


class Models:
    """The base model and the adapters that were loaded onto it, by name."""

    def __init__(self, folder: str, base: str) -> None:
        make_deterministic(0, 2)
        self._folder = folder
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._loaded = {base: self._base()}

    def load(self, name: str, path: str) -> None:
        self._loaded[name] = PeftModel.from_pretrained(self._base(), path)

    def unload(self, name: str) -> None:
        if self._loaded.pop(name, None) is None:
            raise HTTPException(404, f"no adapter {name}")

    def sampler(self, name: str) -> InProcess:
        if name not in self._loaded:
            raise HTTPException(404, f"no model {name}")
        return InProcess(Policy(self._loaded[name], self._tokenizer))

    def _base(self) -> Any:
        return AutoModelForCausalLM.from_pretrained(self._folder)


def create(models: Models, most: int) -> FastAPI:
    """The routes of vLLM that a run asks; `most`: tokens of a request, prompt and all."""
    app = FastAPI()

    @app.get("/health")
    def health() -> None:
        pass

    @app.post("/v1/load_lora_adapter")
    def load(asked: dict[str, Any]) -> None:
        models.load(asked["lora_name"], asked["lora_path"])

    @app.post("/v1/unload_lora_adapter")
    def unload(asked: dict[str, Any]) -> None:
        models.unload(asked["lora_name"])

    @app.post("/v1/completions")
    def completions(asked: dict[str, Any]) -> dict[str, Any]:
        if len(asked["prompt"]) + asked["max_tokens"] > most:
            raise HTTPException(400, "the prompt is too long")
        sampler = models.sampler(asked["model"])
        (ids,) = sampler.sample(
            asked["prompt"], [asked["seed"]], asked["temperature"], asked["max_tokens"]
        )
        told = {"token_ids": ids} if asked.get("return_token_ids") else {}
        return {"object": "text_completion", "choices": [{"index": 0, "text": "", **told}]}

    return app


def install(folder: Path) -> Path:
    """Puts a program `vllm` into `folder`, which is this one."""
    folder.mkdir()
    program = folder / "vllm"
    root = Path(__file__).resolve().parents[2]
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(root)!r})\n"
        "from tests.posttrain.modelserver import main\nmain()\n"
    )
    program.chmod(0o755)
    return folder


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("serve", choices=["serve"])
    arguments.add_argument("model")
    arguments.add_argument("--enable-lora", action="store_true", required=True)
    for name in ("host", "served-model-name", "dtype", "generation-config"):
        arguments.add_argument(f"--{name}", required=True)
    for name in ("port", "max-model-len", "max-lora-rank"):
        arguments.add_argument(f"--{name}", type=int, required=True)
    arguments.add_argument("--gpu-memory-utilization", type=float, required=True)
    asked = arguments.parse_args()
    app = create(Models(asked.model, asked.served_model_name), asked.max_model_len)
    uvicorn.run(app, host=asked.host, port=asked.port, log_level="warning")


if __name__ == "__main__":
    main()
