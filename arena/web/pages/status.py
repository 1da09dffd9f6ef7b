"""`/status`: submissions, the reader's own first."""

from __future__ import annotations

from typing import Any

import gradio as gr

from arena.errors import ArenaError
from arena.web.layout import live, ticking, top
from arena.web.site import QUIET, SHOWN, Site

_ENDED = {"valid", "invalid", "failed", "withdrawn"}
_MINE, _ALL = "Mine", "Everybody's"


def build(site: Site, blocks: gr.Blocks) -> None:
    """The list of submissions."""
    top()
    gr.HTML(site.render("heading", title="Submissions"))
    whose = gr.Radio(
        [_MINE, _ALL], value=_MINE, show_label=False, visible=False, elem_id="whose", scale=0
    )
    body = gr.HTML()

    def show(choice: str, token: gr.OAuthToken | None) -> tuple[str, Any, Any]:
        who = site.guest(token)
        own = who.user if who and choice == _MINE else None
        listed = site.attempt(lambda: site.service.read.submission_views(own))
        if isinstance(listed, ArenaError):
            return site.error(listed), gr.skip(), ticking(True)
        found = listed[:SHOWN]
        html = site.render(
            "status", submissions=found, total=len(listed), own=own, signed_in=who is not None
        )
        return (
            html,
            gr.update(visible=who is not None),
            ticking(any(s.state not in _ENDED for s in found)),
        )

    timer = live(blocks, show, [body, whose], [whose])
    whose.input(show, whose, [body, whose, timer], **QUIET)
