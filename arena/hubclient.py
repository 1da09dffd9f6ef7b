"""The Hub's client with an end to its patience: by itself it waits for an answer for ever."""

from __future__ import annotations

import httpx
from huggingface_hub import set_client_factory
from huggingface_hub.utils._http import default_client_factory

TIMEOUT = httpx.Timeout(60, connect=10)


def bound_hub_calls(timeout: httpx.Timeout = TIMEOUT) -> None:
    """Gives every call of this process to the Hub a time within which bytes must move."""

    def client() -> httpx.Client:
        made = default_client_factory()
        made.timeout = timeout
        return made

    set_client_factory(client)
