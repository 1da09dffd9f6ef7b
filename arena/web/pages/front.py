"""`/`: what this is, and how each challenge is."""

from __future__ import annotations

from typing import Any

import gradio as gr

from arena.errors import ArenaError
from arena.web.layout import live, ticking, top
from arena.web.site import Site


def build(site: Site, blocks: gr.Blocks) -> None:
    """The front page."""
    top()
    body = gr.HTML()

    def show() -> tuple[str, gr.Timer]:
        facts = site.attempt(_facts)
        trouble = site.service.ledger.trouble
        goes_on = ticking(trouble is not None)
        if isinstance(facts, ArenaError):
            return site.render("front", trouble=trouble, error=facts), goes_on
        return site.render("front", trouble=trouble, error=None, **facts), goes_on

    def _facts() -> dict[str, Any]:
        read = site.service.read
        boards = {c.id: read.leaderboard(c.id) for c in read.challenge_views()}
        leaders = {name: rows[0] for name, rows in boards.items() if rows and rows[0].rank}
        return {"challenges": read.challenge_views(), "leaders": leaders}

    live(blocks, show, [body])
