"""A sandbox for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from arena.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox(docker_engine: str) -> Iterator[Sandbox]:
    with Sandbox(docker_engine) as sandbox:
        yield sandbox
