"""Plain pages outside Gradio: a refused sign-in, an address where nothing is."""

from __future__ import annotations

from collections.abc import Callable

from authlib.integrations.base_client.errors import OAuthError
from fastapi import HTTPException, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import HTMLResponse, Response

from arena.errors import ArenaError, NotFound
from arena.web.rendering import Renderer


class SignInRefused(ArenaError):
    code, status = "sign_in_refused", 403
    text = "You are not signed in: the sign-in was refused or did not finish."
    advice = "Reading needs no sign-in. To enter a collection, sign in and allow the profile."


def sign_in_refused(render: Renderer) -> Callable[[Request, OAuthError], Response]:
    """Answers a denied consent, which Gradio would let end as a fault of the server."""

    def answer(request: Request, _: OAuthError) -> Response:
        back = _local(request.query_params.get("_target_url"))
        return _page(render, SignInRefused(), back)

    return answer


def not_found(render: Renderer) -> Callable[..., object]:
    """Answers a person with a page, and Gradio's own routes as before."""

    async def answer(request: Request, exc: HTTPException) -> Response:
        if "text/html" not in request.headers.get("accept", ""):
            return await http_exception_handler(request, exc)
        return _page(render, NotFound(path=request.url.path[:200]), "/")

    return answer


def _page(render: Renderer, error: ArenaError, back: str) -> HTMLResponse:
    return HTMLResponse(render("answer", error=error, back=back), error.status)


def _local(target: str | None) -> str:
    """A path of this site; anything else becomes the front page."""
    local = target and target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if target and local else "/"
