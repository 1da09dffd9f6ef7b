"""`/runs`: every run, newest first."""

from __future__ import annotations

from typing import Any

import gradio as gr

from arena.errors import ArenaError
from arena.web.layout import live, ticking, top
from arena.web.site import SHOWN, Site


def build(site: Site, blocks: gr.Blocks) -> None:
    """The list of runs."""
    top()
    gr.HTML(site.render("heading", title="Runs"))
    body = gr.HTML()

    def show() -> tuple[str, Any]:
        runs = site.attempt(site.service.read.run_views)
        if isinstance(runs, ArenaError):
            return site.error(runs), ticking(True)
        shown = runs[:SHOWN]
        moving = any(run.state in {"queued", "running"} for run in shown)
        return site.render("runs", runs=shown, total=len(runs)), ticking(moving)

    live(blocks, show, [body])
