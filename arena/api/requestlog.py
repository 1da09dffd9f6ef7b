"""An id for each request, in its log lines and its answer; each request counted by its route."""

from __future__ import annotations

import logging
import re
import time
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena import metrics
from arena.logs import FIELDS, REQUEST_ID

log = logging.getLogger(__name__)

HEADER = "X-Request-Id"
_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_OWN = ("/api", "/healthz", "/metrics", "/openapi.json")


class RequestLog:
    """Takes the id that a request carries where it is sane, else makes one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        request = given if _SANE.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request
        token, started, status = REQUEST_ID.set(request), time.monotonic(), 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            _note(scope, status, time.monotonic() - started)
            REQUEST_ID.reset(token)


def _note(scope: Scope, status: int, seconds: float) -> None:
    route = _route(scope)
    method = scope["method"] if scope["method"] in METHODS else "other"
    metrics.REQUESTS.labels(method, route, str(status)).inc()
    # a page asks many times a second, and its address may carry a sign-in's answer
    level = logging.INFO if scope["path"].startswith("/api/") else logging.DEBUG
    fields = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1)}
    log.log(level, "%s %s %s", method, route, status, extra={FIELDS: fields})


def _route(scope: Scope) -> str:
    """The template of the route, so that no id makes a label of its own; all pages are one."""
    if not scope["path"].startswith(_OWN):
        return "pages"
    # an included router's route knows its path without the prefix; FastAPI keeps the whole here
    whole = scope.get("fastapi", {}).get("effective_route_context")
    return str(getattr(whole or scope.get("route"), "path", "none"))
