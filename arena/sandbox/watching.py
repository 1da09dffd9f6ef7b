"""A container's own process, from outside: waited for, ended where it meets a limit, and heard."""

from __future__ import annotations

from contextlib import suppress
from threading import Event, Thread
from time import monotonic

from arena.sandbox.engine import Engine
from arena.sandbox.errors import EngineError

# Asking how much a container wrote walks its files: only once in a while.
DISK_SEC = 2.0

MAX_OUTPUT = 8000
_OUTPUT_LINES = 200
_KILL_SEC = 60.0


def watched(engine: Engine, container: str, seconds: float, storage_mb: int) -> int | str:
    """Wait for a container's end: its exit code, or what it did to be ended from outside."""
    watch = _Watch(engine, container, seconds, storage_mb)
    watch.start()
    try:
        code = engine.wait(container, seconds + _KILL_SEC)
    finally:
        watch.stop()
    return code if watch.hit is None else watch.hit


def heard(engine: Engine, container: str) -> str:
    """The end of what a container's own process wrote."""
    return engine.output(container, _OUTPUT_LINES).decode("utf-8", "replace")[-MAX_OUTPUT:]


class _Watch(Thread):
    """Ends a container that outlives its time or fills its disk."""

    def __init__(self, engine: Engine, container: str, seconds: float, storage_mb: int) -> None:
        super().__init__(daemon=True)
        self.hit: str | None = None
        self._engine = engine
        self._container = container
        self._seconds = seconds
        self._bytes = storage_mb << 20
        self._stopped = Event()

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        deadline = monotonic() + self._seconds
        while not self._stopped.wait(max(0.0, min(DISK_SEC, deadline - monotonic()))):
            if monotonic() >= deadline:
                self.hit = f"took longer than {self._seconds:g} s"
            elif self._filled_its_disk():
                self.hit = "filled its disk"
            if self.hit:
                with suppress(EngineError):  # whoever waits for the container meets it too
                    self._engine.kill(self._container)
                return

    def _filled_its_disk(self) -> bool:
        try:
            return self._engine.written_bytes(self._container) > self._bytes
        except EngineError:
            return False
