"""A front before the local hub: counts what is asked, and answers as the Hub does in bad hours."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable

import httpx
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

_HOP = {"connection", "transfer-encoding", "content-length", "content-encoding", "host", "date"}


class HubFront:
    """Passes everything on, but for what a test sets."""

    def __init__(self, hub: str) -> None:
        self._hub = hub
        self.asked: list[tuple[str, str]] = []
        self.refuse: Callable[[str], Response | None] = lambda _: None
        self.renamed: dict[str, str] = {}
        self.stored_apart: set[str] = set()
        """Paths of files in LFS, or Xet: listed with a sha256, kept at another address."""
        app = FastAPI()
        app.add_api_route("/{path:path}", self._answer, methods=["GET", "HEAD", "POST", "PUT"])
        self._server = uvicorn.Server(
            uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error")
        )
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"
        self._http = httpx.AsyncClient(timeout=60)

    def paths(self) -> list[str]:
        return [path for _, path in self.asked]

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join()

    async def _answer(self, request: Request) -> Response:
        path = request.url.path
        self.asked.append((request.method, path))
        if refused := self.refuse(path):
            return refused
        for old, new in self.renamed.items():
            if f"/datasets/{old}" in path:
                place = f"{path.replace(old, new)}?{request.url.query}"
                return RedirectResponse(f"{self.url}{place}", 307)
        if "/resolve/" in path and not path.startswith("/apart") and self._is_apart(path):
            return RedirectResponse(f"{self.url}/apart{path}", 302)
        answer = await self._ask(request, path.removeprefix("/apart"))
        if "/tree/" in path and self.stored_apart:
            return JSONResponse([await self._row(path, row) for row in answer.json()])
        headers = {k: v for k, v in answer.headers.items() if k.lower() not in _HOP}
        return Response(answer.content, answer.status_code, headers)

    def _is_apart(self, path: str) -> bool:
        return any(path.endswith(apart) for apart in self.stored_apart)

    async def _ask(self, request: Request, path: str) -> httpx.Response:
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _HOP}
        url = f"{self._hub}{path}?{request.url.query}"
        return await self._http.request(
            request.method, url, headers=headers, content=await request.body()
        )

    async def _row(self, tree: str, row: dict[str, object]) -> dict[str, object]:
        """A tree's row of a file that is stored apart: its blob is a pointer, as on the Hub."""
        if row["path"] not in self.stored_apart:
            return row
        found = re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/tree/([^/]+).*", tree)
        assert found
        url = f"{self._hub}/datasets/{found[1]}/resolve/{found[2]}/{row['path']}"
        content = (await self._http.get(url)).content
        lfs = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
        return {**row, "oid": "f" * 40, "lfs": lfs, "xetHash": "e" * 64}
