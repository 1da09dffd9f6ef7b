"""Waiting for what other processes do, and seeing it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docker import APIClient

from arena.sandbox.engine import LABEL
from arena.sandbox.owners import OWNER_LABEL, this_process


def processes_with(words: str, variable: str = "") -> list[str]:
    """The command lines on this machine that hold `words`, and `variable` in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            line = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            if words in line and variable.encode() in (place / "environ").read_bytes():
                found.append(line)
        except OSError:
            continue
    return found


def eventually(is_so: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.1)
    return is_so()


def waiting_verifiers(client: APIClient) -> list[dict[str, Any]]:
    """This process's running containers whose shell waits for input."""
    labels = [f"{LABEL}=trial", f"{OWNER_LABEL}={this_process()}"]
    found = [
        client.inspect_container(one["Id"]) for one in client.containers(filters={"label": labels})
    ]
    return [one for one in found if one["Config"]["OpenStdin"]]
