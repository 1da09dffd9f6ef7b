"""`/commons`: everything accepted."""

from __future__ import annotations

import gradio as gr

from arena.web.layout import top
from arena.web.site import QUIET, SHOWN, Site


def build(site: Site, blocks: gr.Blocks) -> None:
    """The list of released collections."""
    top()
    body = gr.HTML()

    def show() -> str:
        entries = site.service.read.commons()
        return site.render("commons", entries=entries[:SHOWN], total=len(entries))

    blocks.load(lambda: site.page("Commons", show), None, body, **QUIET)
