"""The application: routes, and how refusals are told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.localhub import (
    commit_routes,
    faults,
    lfs_routes,
    page_routes,
    repo_routes,
    resolve_routes,
    signin_routes,
    tree_routes,
    whoami,
)
from arena.localhub.dependencies import Hub
from arena.localhub.errors import HubError
from arena.localhub.lfs import UploadTickets
from arena.localhub.repos import Repositories
from arena.localhub.signin import Application, SignIn
from arena.localhub.templates import render
from arena.localhub.tokens import Tokens


class _RoutesOnRawPath:
    """Routes match the path as it was sent: a slash that the client quoted (in a branch's name,
    in a file's path) stays inside its segment, and is decoded once, after the match."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "path": scope["raw_path"].decode("ascii", errors="replace")}
        await self._app(scope, receive, send)


def create_app(
    data: Path, application: Application | None, *, with_faults: bool = False
) -> FastAPI:
    """The hub on a data directory; `with_faults` lets anybody ask for trouble (faults.py)."""
    hub = Hub(
        repositories=Repositories(data),
        tokens=Tokens(data / "oauth-tokens.json"),
        sign_in=SignIn(data / "oauth-key.json", application),
        uploads=UploadTickets(),
    )

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        hub.repositories.close()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.hub = hub
    app.add_middleware(_RoutesOnRawPath)
    if with_faults:
        app.state.faults = []
        app.include_router(faults.router)
        app.add_middleware(faults.Faults, waiting=app.state.faults)
    # A web page that resolves its own name to this computer must not speak to the hub.
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    app.add_exception_handler(HubError, _refusal)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http_error)
    for module in (
        whoami,
        repo_routes,
        tree_routes,
        commit_routes,
        lfs_routes,
        resolve_routes,
        signin_routes,
        page_routes,
    ):
        app.include_router(module.router)
    return app


def _answer(request: Request, status: int, message: str, headers: dict[str, str]) -> Response:
    if "text/html" in request.headers.get("accept", ""):
        return render("error.html", status=status, message=message)
    return JSONResponse({"error": message}, status, headers)


async def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, HubError)
    return _answer(request, error.status, error.message, error.headers())


async def _malformed(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    refusal = HubError(400, f"{place}: {first['msg']}")
    return _answer(request, refusal.status, refusal.message, refusal.headers())


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(request, error.status_code, str(error.detail), dict(error.headers or {}))
