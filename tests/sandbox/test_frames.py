"""An execution's output, however its frames are cut into chunks."""

from __future__ import annotations

import struct

import pytest

from arena.sandbox.frames import Frames


def frame(data: bytes, stream: int = 1) -> bytes:
    return struct.pack(">BxxxL", stream, len(data)) + data


@pytest.mark.parametrize("size", [1, 3, 7, 8, 9, 1000])
def test_chunks_of_any_size_give_the_same_text(size: int) -> None:
    sent = frame(b"hello ") + frame(b"", 2) + frame("wörld".encode(), 2)
    frames = Frames(cap=100)
    for start in range(0, len(sent), size):
        frames.feed(sent[start : start + size])
    assert frames.text() == "hello wörld"


def test_output_is_capped() -> None:
    frames = Frames(cap=10)
    for _ in range(100):
        frames.feed(frame(b"x" * 1000))
    assert frames.text() == "x" * 10


def test_what_comes_without_a_frame_is_text() -> None:
    frames = Frames(cap=100)
    frames.feed(b"OCI runtime exec failed")
    assert frames.text() == "OCI runtime exec failed"
