"""The frames in which the engine sends what a process writes to its two outputs."""

from __future__ import annotations

import struct
from threading import Lock

_HEADER = struct.Struct(">B3xL")


class Frames:
    """Takes chunks as they come and keeps the first `cap` bytes; safe to read meanwhile."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._kept = bytearray()
        self._pending = b""
        self._in_frame = 0
        self._lock = Lock()

    def feed(self, chunk: bytes) -> None:
        with self._lock:
            self._pending += chunk
            while self._pending:
                if self._in_frame:
                    part = self._pending[: self._in_frame]
                    self._keep(part)
                    self._in_frame -= len(part)
                    self._pending = self._pending[len(part) :]
                elif not self._begin_frame():
                    return

    def text(self) -> str:
        with self._lock:
            return bytes(self._kept).decode("utf-8", "replace")

    def _begin_frame(self) -> bool:
        """Read a frame's header; False where it has not all arrived."""
        if self._pending[0] > 2:
            # Engines report that they could not start a process as plain text without a frame.
            self._in_frame = len(self._pending)
            return True
        if len(self._pending) < _HEADER.size:
            return False
        _, self._in_frame = _HEADER.unpack_from(self._pending)
        self._pending = self._pending[_HEADER.size :]
        return True

    def _keep(self, part: bytes) -> None:
        self._kept += part[: self._cap - len(self._kept)]
