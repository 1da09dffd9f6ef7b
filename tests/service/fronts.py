"""The API and the command line of one arena, as a test asks them."""

import io
import json
import os
from contextlib import redirect_stderr, redirect_stdout
from typing import Any
from unittest import mock

import httpx

from arena.cli import main


class Fronts:
    """The API and the command line of one arena."""

    def __init__(self, url: str) -> None:
        self.url = url

    def api(
        self, account: str | None, method: str, path: str, body: dict[str, Any] | None = None
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer hf_{account}"} if account else {}
        url = f"{self.url}/api/v1{path}"
        return httpx.request(method, url, json=body, headers=headers, timeout=30)

    def cli(self, account: str | None, *arguments: str) -> tuple[int, dict[str, Any], str]:
        env = {"ARENA_URL": self.url} | ({"HF_TOKEN": f"hf_{account}"} if account else {})
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, env),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            code = main([*arguments, "--json"])
        return code, json.loads(out.getvalue()), err.getvalue()
