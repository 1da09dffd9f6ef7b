"""The frames in which the engine sends what a process writes to its two outputs."""

from __future__ import annotations

import struct
from threading import Event, Lock, Thread

from arena.sandbox.engine import Engine
from arena.sandbox.errors import EngineError

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


class Reader:
    """Reads an execution's output in a thread, since reading may block for as long as it likes."""

    def __init__(self, engine: Engine, execution: str, cap: int) -> None:
        self._frames = Frames(cap)
        self._ended = Event()
        self._error: EngineError | None = None
        self._thread = Thread(target=self._read, args=(engine, execution), daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Whether the output ended within `seconds`; raises what reading it met."""
        ended = self._ended.wait(max(0.0, seconds))
        if self._error is not None:
            raise self._error
        return ended

    def text(self) -> str:
        return self._frames.text()

    def _read(self, engine: Engine, execution: str) -> None:
        try:
            for chunk in engine.exec_output(execution):
                self._frames.feed(chunk)
        except EngineError as error:
            self._error = error
        finally:
            self._ended.set()
