"""Sampling turns from vLLM, which serves the run's base model with the adapter in training.

It is asked through the OpenAI API, by ids and for ids, so that nothing is tokenised twice. After
each step of training the adapter is written to a folder and loaded anew.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from arena.challenges import LoraSettings, Recipe, ServerSettings
from arena.posttrain.faults import PlatformFault
from arena.posttrain.model import Policy
from arena.processes import Process, StartError

COMMAND = "vllm"
REQUEST_SECONDS = 600.0
_BASE = "base"


class Served:
    """Samples from the server; its adapter is the policy's as it was at the last `refresh`."""

    def __init__(self, url: str, policy: Policy, folder: Path) -> None:
        self._client = httpx.Client(base_url=url, timeout=REQUEST_SECONDS)
        self._policy = policy
        self._folder = folder
        self._numbers = count()
        self._name = _BASE

    def refresh(self) -> None:
        """Gives the server the policy's adapter as it is now.

        Raises:
            PlatformFault: the server did not take it.
        """
        name = f"policy-{next(self._numbers)}"
        self._policy.model.save_pretrained(self._folder / name)
        self._post("load_lora_adapter", lora_name=name, lora_path=str(self._folder / name))
        before, self._name = self._name, name
        if before != _BASE:
            self._post("unload_lora_adapter", lora_name=before)
            shutil.rmtree(self._folder / before)

    def sample(
        self, context: Sequence[int], seeds: Sequence[int], temperature: float, max_tokens: int
    ) -> list[list[int]]:
        """One turn per seed, each a request of its own: the server batches what comes at once.

        Raises:
            PlatformFault: the server gave no turn.
        """
        asked = {
            "model": self._name,
            "prompt": list(context),
            "temperature": temperature,
            "top_p": 1.0,
            "max_tokens": max_tokens,
            "stop_token_ids": [self._policy.tokenizer.eos_token_id],
            "return_token_ids": True,
        }
        with ThreadPoolExecutor(len(seeds)) as pool:
            return list(pool.map(lambda seed: self._turn({**asked, "seed": seed}), seeds))

    def close(self) -> None:
        self._client.close()

    def _turn(self, asked: dict[str, Any]) -> list[int]:
        answer = self._post("completions", **asked).json()
        ids: list[int] | None = answer["choices"][0].get("token_ids")
        if ids is None:
            raise PlatformFault("server_failed", "The sampling server gives no token ids.")
        return ids

    def _post(self, route: str, **body: Any) -> httpx.Response:
        try:
            return self._client.post(f"/v1/{route}", json=body).raise_for_status()
        except httpx.HTTPError as exc:
            # an answer may quote what was asked, and that may be a held-out task's
            told = f"The sampling server failed at {route}: {type(exc).__name__}."
        raise PlatformFault("server_failed", told)


@contextmanager
def served(
    policy: Policy,
    base_model: Path,
    recipe: Recipe,
    lora: LoraSettings,
    server: ServerSettings,
    workdir: Path,
) -> Iterator[Served]:
    """A server for the run, on this machine, until the block ends.

    Raises:
        PlatformFault: it did not come up.
    """
    adapters = workdir / "adapters"
    adapters.mkdir()
    port = _free_port()
    options = {
        "--host": "127.0.0.1",
        "--port": port,
        "--served-model-name": _BASE,
        "--dtype": recipe.dtype,
        "--max-model-len": recipe.generation.max_tokens,
        "--max-lora-rank": lora.rank,
        "--gpu-memory-utilization": server.gpu_memory_fraction,
        "--generation-config": "vllm",  # the model's own would change how it is sampled
    }
    flat = [str(part) for option in options.items() for part in option]
    command = [COMMAND, "serve", str(base_model), "--enable-lora", *flat]
    env = {**os.environ, "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True"}
    process = Process.start("server", command, env, workdir / "logs")
    url = f"http://127.0.0.1:{port}"
    try:
        process.wait_until_answers(f"{url}/health", server.start_seconds)
    except StartError:
        process.stop()
        code = process.popen.returncode
        told = f"The sampling server did not come up; it ended with exit code {code}."
        raise PlatformFault("server_failed", told) from None
    sampler = Served(url, policy, adapters)
    try:
        yield sampler
    finally:
        sampler.close()
        process.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
