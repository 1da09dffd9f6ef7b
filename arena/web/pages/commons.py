"""`/commons`: everything accepted."""

from __future__ import annotations

import gradio as gr

from arena.web.layout import top
from arena.web.site import QUIET, Site


def build(site: Site, blocks: gr.Blocks) -> None:
    """The list of released collections."""
    top()
    body = gr.HTML()

    def show() -> str:
        return site.render("commons", entries=site.service.read.commons())

    blocks.load(lambda: site.page("Commons", show), None, body, **QUIET)
