"""What the tests of runs share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.posttrain.tinyqwen import write_tiny_qwen


@pytest.fixture(scope="session")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random Qwen3.5 with its tokenizer."""
    return write_tiny_qwen(tmp_path_factory.mktemp("qwen"))
