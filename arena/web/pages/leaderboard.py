"""`/leaderboard?challenge=…`: collections by mean change."""

from __future__ import annotations

import gradio as gr

from arena.web.layout import query, top
from arena.web.site import QUIET, SHOWN, Site


def build(site: Site, blocks: gr.Blocks) -> None:
    """The leaderboard of one challenge; its name stands in the address."""
    top()
    body = gr.HTML()

    def show(chosen: str) -> str:
        read = site.service.read
        challenges = read.challenge_views()
        chosen = chosen or (challenges[0].id if challenges else "")
        rows = read.leaderboard(chosen)
        shown = rows[:SHOWN]
        return site.render(
            "leaderboard",
            challenges=challenges,
            chosen=chosen,
            rows=shown,
            total=len(rows),
            domains=sorted({domain for row in shown for domain in row.domains}),
        )

    def on_load(request: gr.Request) -> str:
        return site.page("Leaderboard", lambda: show(query(request, "challenge")))

    blocks.load(on_load, None, body, **QUIET)
