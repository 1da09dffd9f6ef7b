"""What tests in several folders share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from local.baseimages import ensure_base_images
from local.engine import DEFAULT_DIRECTORY, ensure_engine


@pytest.fixture(scope="session")
def docker_engine() -> str:
    """The address of a Docker engine; a private one is started where none runs and it may be."""
    engine = ensure_engine(Path(__file__).resolve().parents[1] / DEFAULT_DIRECTORY)
    if engine.url is None:
        reason = engine.reason or "no Docker engine"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    if engine.private:
        ensure_base_images(engine.url)
    return engine.url
