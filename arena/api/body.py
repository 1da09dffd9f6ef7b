"""A limit on what a request may send: FastAPI reads a JSON body whole, before it asks who sends."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 64 * 1024


class BodyLimit:
    """Refuses bodies below /api larger than any route takes; reports have their own limit."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        limited = scope["type"] == "http" and scope["path"].startswith("/api/")
        if not limited or scope["path"].endswith("/report"):
            await self._app(scope, receive, send)
            return
        taken = 0

        async def receive_limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > MAX_BODY_BYTES:
                raise HTTPException(413, f"the body is over {MAX_BODY_BYTES:,} bytes")
            return message

        await self._app(scope, receive_limited, send)
