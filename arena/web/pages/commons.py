"""`/commons`: everything accepted."""

from __future__ import annotations

import gradio as gr

from arena.web.layout import top
from arena.web.site import QUIET, Site


def build(site: Site, blocks: gr.Blocks) -> None:
    """The list of released collections."""
    top()
    body = gr.HTML()
    blocks.load(
        lambda: site.render("commons", entries=site.service.read.commons()), None, body, **QUIET
    )
