"""The whole arena as `make run` starts it, with a challenge of two tasks on each side."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.stack import Options, Stack

CHALLENGE = "tiny"


@pytest.fixture(scope="session")
def stack(
    docker_engine: str, base_model_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """Hub, app and worker in processes of their own, on a real Docker engine."""
    port, hub_port = free_ports()
    options = Options(
        directory=tmp_path_factory.mktemp("stack"),
        port=port,
        hub_port=hub_port,
        challenges=Path(__file__).parent / "challenges",
        challenge=CHALLENGE,
        tasks=2,
        suite_tasks=2,
        cache=base_model_dir.parent,
        lease_seconds=20,
    )
    stack = Stack(options)
    try:
        stack.start()
        yield stack
        dead = stack.died()
        assert dead is None, dead and f"{dead.name} ended by itself:\n{dead.log_tail()}"
    finally:
        stack.stop()


def free_ports() -> tuple[int, int]:
    """Two ports that nothing listens on."""
    with socket.socket() as one, socket.socket() as two:
        for probe in (one, two):
            probe.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1]), int(two.getsockname()[1])
