"""REST and pages as one application."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
from authlib.integrations.base_client.errors import OAuthError
from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from arena.api import create_api
from arena.service import Arena
from arena.web import answers
from arena.web.headers import SecurityHeaders
from arena.web.pages import PAGES
from arena.web.rendering import Renderer
from arena.web.session import Session
from arena.web.site import Site

_STATIC = Path(__file__).parent / "static"
_FONT = ["system-ui", "-apple-system", "Segoe UI", "sans-serif"]
_FONT_MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "monospace"]


def create_app(service: Arena) -> FastAPI:
    """The whole web application of an arena.

    REST comes first: the pages are mounted at the root, since Gradio's sign-in links are absolute.
    """
    app = create_api(service)
    # No origin is let in: the session's cookie is sent along by other sites' pages too. That this
    # middleware is here also keeps Gradio from adding its own, which admits any origin.
    app.add_middleware(CORSMiddleware)
    app.add_middleware(SecurityHeaders)
    render = Renderer(service.settings.hub_endpoint)
    gr.mount_gradio_app(
        app,
        _blocks(Site(service, render)),
        path="/",
        ssr_mode=False,
        theme=_theme(),
        css_paths=[_STATIC / "arena.css"],
        favicon_path=str(_STATIC / "favicon.png"),
        footer_links=[],
        run_history=False,
        show_error=False,
        mcp_server=False,
        app_kwargs={
            "openapi_url": None,
            "middleware": [Middleware(Session)],
            "exception_handlers": {
                OAuthError: answers.sign_in_refused(render),
                404: answers.not_found(render),
            },
        },
    )
    return app


def _blocks(site: Site) -> gr.Blocks:
    with gr.Blocks(title="PostTrain Arena", analytics_enabled=False, fill_width=True) as blocks:
        PAGES[0].build(site, blocks)
    for page in PAGES[1:]:
        with blocks.route(page.name, page.path, show_in_navbar=page.in_bar):
            page.build(site, blocks)
    # Else the browser draws a Space's header, with fonts and figures of third parties.
    blocks.space_id = None
    for event in blocks.fns.values():
        # Private keeps an event out of the API's description, which protects nothing: each handler
        # asks the service. None waits in Gradio's queue, since every handler answers at once.
        event.queue, event.api_visibility = False, "private"
    return blocks


def _theme() -> gr.themes.Base:
    """Gradio's plain theme with the system's fonts: nothing is loaded from a third party."""
    return gr.themes.Base(
        primary_hue=gr.themes.colors.blue,
        neutral_hue=gr.themes.colors.slate,
        radius_size=gr.themes.sizes.radius_sm,
        font=_FONT,
        font_mono=_FONT_MONO,
    )
