"""`/`: what this is, and how each challenge is."""

from __future__ import annotations

from typing import Any

import gradio as gr

from arena.errors import ArenaError
from arena.web.layout import top
from arena.web.site import QUIET, Site


def build(site: Site, blocks: gr.Blocks) -> None:
    """The front page."""
    top()
    body = gr.HTML()

    def show() -> str:
        facts = site.attempt(_facts)
        trouble = site.service.ledger.trouble
        if isinstance(facts, ArenaError):
            return site.render("front", trouble=trouble, error=facts)
        return site.render("front", trouble=trouble, error=None, **facts)

    def _facts() -> dict[str, Any]:
        read = site.service.read
        boards = {c.id: read.leaderboard(c.id) for c in read.challenge_views()}
        leaders = {name: rows[0] for name, rows in boards.items() if rows and rows[0].rank}
        return {"challenges": read.challenge_views(), "leaders": leaders}

    blocks.load(show, None, body, **QUIET)
