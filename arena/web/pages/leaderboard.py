"""`/leaderboard?challenge=…`: collections by mean change."""

from __future__ import annotations

import gradio as gr

from arena.errors import ArenaError
from arena.web.layout import query, top
from arena.web.site import QUIET, SHOWN, Site


def build(site: Site, blocks: gr.Blocks) -> None:
    """The leaderboard of one challenge; its name stands in the address."""
    top()
    body = gr.HTML()

    def show(request: gr.Request) -> str:
        read = site.service.read
        challenges = read.challenge_views()
        chosen = query(request, "challenge") or (challenges[0].id if challenges else "")
        rows = site.attempt(lambda: read.leaderboard(chosen))
        if isinstance(rows, ArenaError):
            return site.error(rows)
        shown = rows[:SHOWN]
        return site.render(
            "leaderboard",
            challenges=challenges,
            chosen=chosen,
            rows=shown,
            total=len(rows),
            domains=sorted({domain for row in shown for domain in row.domains}),
        )

    blocks.load(show, None, body, **QUIET)
