"""What goes wrong on the real Hub, on request: for tests alone, with `--faults`.

`POST /admin/faults` takes a list; each waits for requests that it matches, and is used up.
"""

from __future__ import annotations

import asyncio
import re
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.types import ASGIApp, Message, Receive, Scope, Send

router = APIRouter()

Kind = Literal["refuse", "fail after", "cut", "cut after", "hang", "rewrite"]


class Fault(BaseModel):
    """One kind of trouble, for the next `times` requests whose `METHOD /path` it matches.

    refuse: answers `status` with `headers` and does nothing. fail after: does it, and answers
    `status`. cut, cut after: breaks the connection, before or after it is done. hang: waits
    `seconds`, then does it. rewrite: serves `path` instead, as a head that lags behind is.
    """

    kind: Kind
    match: str
    times: int = Field(default=1, ge=1)
    skip: int = Field(default=0, ge=0)
    status: int = 500
    headers: dict[str, str] = Field(default_factory=dict)
    seconds: float = 1.0
    path: str = ""


class Faults:
    """Middleware that has the faults in hand."""

    def __init__(self, app: ASGIApp, waiting: list[Fault]) -> None:
        self._app = app
        self._waiting = waiting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        fault = self._next(scope) if scope["type"] == "http" else None
        if fault is None:
            await self._app(scope, receive, send)
            return
        match fault.kind:
            case "refuse":
                await _answer(send, fault)
            case "fail after":
                await self._app(scope, receive, _swallow)
                await _answer(send, fault)
            case "cut":
                await receive()  # the first piece of what is uploaded
                await _cut(send)
            case "cut after":
                await self._app(scope, receive, _swallow)
                await _cut(send)
            case "hang":
                await asyncio.sleep(fault.seconds)
                await self._app(scope, receive, send)
            case "rewrite":
                changed = {**scope, "path": fault.path, "raw_path": fault.path.encode()}
                await self._app(changed, receive, send)

    def _next(self, scope: Scope) -> Fault | None:
        request = f"{scope['method']} {scope['path']}"
        for fault in self._waiting:
            if re.search(fault.match, request):
                if fault.skip:
                    fault.skip -= 1
                    return None
                fault.times -= 1
                if not fault.times:
                    self._waiting.remove(fault)
                return fault
        return None


@router.post("/admin/faults")
async def inject(faults: list[Fault], request: Request) -> dict[str, int]:
    """Puts these in place of what is left of earlier ones."""
    request.app.state.faults[:] = faults
    return {"waiting": len(faults)}


@router.get("/admin/faults")
async def waiting(request: Request) -> list[Fault]:
    """Those that no request has met yet."""
    return list(request.app.state.faults)


async def _swallow(_message: Message) -> None:
    """Nobody hears the answer."""


async def _answer(send: Send, fault: Fault) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in fault.headers.items()]
    await send({"type": "http.response.start", "status": fault.status, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"error": "a fault on request"}'})


async def _cut(send: Send) -> None:
    """An answer that ends before its length: the server closes the connection on the client."""
    headers = [(b"content-length", b"1000")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"", "more_body": True})
