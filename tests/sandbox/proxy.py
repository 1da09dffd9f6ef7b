"""A way to an engine that can be cut, for tests of what happens then."""

from __future__ import annotations

import re
import shutil
import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from typing import Self

_START = re.compile(rb"POST \S*/containers/\w+/start ")
_REFUSAL = b'{"message": "no container starts here: the test says so"}'
_ANSWER = (
    b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_REFUSAL), _REFUSAL)
)


class Proxy:
    """Passes a unix socket's bytes on to an engine's unix socket."""

    def __init__(self, engine_url: str) -> None:
        if not engine_url.startswith("unix://"):
            raise ValueError(f"only an engine on a unix socket has a proxy here: {engine_url}")
        self._engine = engine_url.removeprefix("unix://")
        self._folder = Path(tempfile.mkdtemp())
        self._path = self._folder / "proxy.sock"
        self.url = f"unix://{self._path}"
        self._lock = Lock()
        self.refuses = False
        self.starts_containers = True
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen()
        Thread(target=self._accept, daemon=True).start()

    def open_to_all(self) -> None:
        """Let other users of the machine connect, as a group does with an engine's own socket."""
        self._folder.chmod(0o755)
        self._path.chmod(0o666)

    def cut(self) -> None:
        """End every connection and take no more."""
        self._path.unlink(missing_ok=True)
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._drop()

    def refuse_one(self) -> None:
        """End every connection and the next one; later ones are taken again."""
        self.refuses = True
        self._drop()

    def _drop(self) -> None:
        with self._lock:
            for one in self._open:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.cut()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.refuses:
                    self.refuses = False
                    client.close()
                    continue
                engine = socket.socket(socket.AF_UNIX)
                engine.connect(self._engine)
                with self._lock:
                    self._open += [client, engine]
                for source, target in ((client, engine), (engine, client)):
                    Thread(target=self._pump, args=(source, target), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if not self.starts_containers and _START.match(data):
                    source.sendall(_ANSWER)
                else:
                    target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)
