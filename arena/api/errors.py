"""One shape for every error: `{"ok": false, "error": {"code", "message", "next"}}`."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from arena import metrics
from arena.api.requestlog import HEADER
from arena.errors import ArenaError, BadRequest, NotFound

log = logging.getLogger(__name__)


def error_response(error: ArenaError) -> JSONResponse:
    """An error as an answer; counted."""
    metrics.ERRORS.labels(error.code).inc()
    return JSONResponse({"ok": False, "error": error.as_dict()}, error.status)


def add_error_handlers(app: FastAPI) -> None:
    """Makes every failure below /api answer in the one shape; pages keep their own."""

    @app.exception_handler(ArenaError)
    def on_arena_error(_: Request, exc: ArenaError) -> JSONResponse:
        return error_response(exc)

    @app.exception_handler(RequestValidationError)
    def on_bad_request(_: Request, exc: RequestValidationError) -> JSONResponse:
        first = exc.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        return error_response(BadRequest(problem=f"{place or 'body'}: {first['msg']}"))

    @app.exception_handler(HTTPException)
    def on_http_error(request: Request, exc: HTTPException) -> JSONResponse:
        if exc.status_code == 404:
            return error_response(NotFound(path=request.url.path[:200]))
        response = error_response(BadRequest(problem=str(exc.detail)))
        response.status_code = exc.status_code
        return response

    @app.exception_handler(Exception)
    def on_fault(request: Request, exc: Exception) -> JSONResponse:
        log.exception("%s %s met a fault", request.method, request.url.path, exc_info=exc)
        response = error_response(ArenaError())
        # this answer is given outside of what adds the id to every other
        response.headers[HEADER] = getattr(request.state, "request_id", "")
        return response
