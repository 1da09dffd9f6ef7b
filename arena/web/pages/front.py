"""`/`: what this is, and how each challenge is."""

from __future__ import annotations

import gradio as gr

from arena.web.layout import top
from arena.web.site import QUIET, Site


def build(site: Site, blocks: gr.Blocks) -> None:
    """The front page."""
    top()
    body = gr.HTML()

    def show() -> str:
        read = site.service.read
        boards = {c.id: read.leaderboard(c.id) for c in read.challenge_views()}
        return site.render(
            "front",
            challenges=read.challenge_views(),
            leaders={name: rows[0] for name, rows in boards.items() if rows and rows[0].rank},
        )

    blocks.load(show, None, body, **QUIET)
