"""A registry of one image on the loopback address, which may answer with an error instead."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = json.dumps(
    {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers"}}
).encode()


class Registry(ThreadingHTTPServer):
    """What is asked for is counted in `asked`."""

    def __init__(self, status: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = status
        self.asked = 0
        self.host = f"127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Registry
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.endswith("/v2/"):
            self._answer(200, b"{}")
            return
        if self.command == "HEAD":
            self.server.asked += 1
        if self.server.status != 200:
            # What a registry says of itself is the author's to choose, and no word of the engine's.
            error = {"code": "UNKNOWN", "message": "no space left on device"}
            self._answer(self.server.status, json.dumps({"errors": [error]}).encode())
        elif "/manifests/" in self.path:
            self._answer(200, _manifest(), _MANIFEST)
        else:
            self._answer(200, _CONFIG)

    do_HEAD = do_GET

    def _answer(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Docker-Content-Digest", _digest(body))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def _manifest() -> bytes:
    config = {
        "mediaType": "application/vnd.docker.container.image.v1+json",
        "size": len(_CONFIG),
        "digest": _digest(_CONFIG),
    }
    manifest = {"schemaVersion": 2, "mediaType": _MANIFEST, "config": config, "layers": []}
    return json.dumps(manifest).encode()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@contextmanager
def serving(status: int) -> Iterator[Registry]:
    """A registry that answers every question for an image with this status."""
    registry = Registry(status)
    thread = Thread(target=registry.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        registry.shutdown()
        registry.server_close()
