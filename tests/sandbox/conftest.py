"""A sandbox for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from docker import APIClient

from arena.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox(docker_engine: str) -> Iterator[Sandbox]:
    with Sandbox(docker_engine) as sandbox:
        yield sandbox


@pytest.fixture
def client(docker_engine: str) -> Iterator[APIClient]:
    client = APIClient(base_url=docker_engine, version="auto")
    yield client
    client.close()
