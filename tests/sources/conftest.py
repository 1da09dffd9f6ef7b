"""Sources against real servers: a local GitHub, and a local hub behind a front that misbehaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.sources import FileCache, GitHubSource
from tests.localgithub import LocalGitHub

TOKEN = "github_pat_secret"


@pytest.fixture
def source(github: LocalGitHub, tmp_path: Path) -> GitHubSource:
    return GitHubSource(github.url, FileCache(tmp_path / "files"), TOKEN)


def error_of(call: Callable[[], object]) -> ArenaError:
    """The error that `call` is refused with."""
    with pytest.raises(ArenaError) as caught:
        call()
    assert caught.value.message
    assert caught.value.next
    return caught.value
