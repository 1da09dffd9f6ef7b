"""`/history?id=…`: every record that touched a submission, a run, a challenge or a content."""

from __future__ import annotations

import gradio as gr

from arena.web.layout import query, top
from arena.web.site import QUIET, Site

SHOWN = 500


def build(site: Site, blocks: gr.Blocks) -> None:
    """The history of what the address names."""
    top()
    body = gr.HTML()

    def show(name: str) -> str:
        rows = site.service.read.history(name)
        return site.render("history", name=name, alone=True, rows=rows, shown=SHOWN)

    def on_load(request: gr.Request) -> str:
        return site.page("History", lambda: show(query(request, "id")))

    blocks.load(on_load, None, body, **QUIET)


def section(site: Site, name: str) -> str:
    """The history as a part of the page of what it is of."""
    rows = site.service.read.history(name)
    return site.render("history", name=name, alone=False, rows=rows, shown=SHOWN)
