"""Files that are there whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.wholefiles import put_whole


def test_a_file_that_cannot_be_put_leaves_nothing(tmp_path: Path) -> None:
    place = tmp_path / "a folder"
    place.mkdir()
    with pytest.raises(OSError, match="directory"):
        put_whole(place, b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["a folder"]
    put_whole(tmp_path / "file", b"content")
    assert (tmp_path / "file").read_bytes() == b"content"
