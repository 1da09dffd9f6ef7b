"""`/run?id=…`: one run: its place, its stages, its result; reviewing and cancelling it."""

from __future__ import annotations

from typing import Any

import gradio as gr

from arena.editorsnote import EditorsNote
from arena.errors import ArenaError, StoreUnavailable
from arena.identity import Identity
from arena.records import Verdict
from arena.views import RunDetail
from arena.web.layout import live, query, ticking, top, writing
from arena.web.pages.history import section
from arena.web.site import Site

SHOWN_LINES = 200
"""The last lines of a log that the page shows; the API has the rest."""
_UNDER_WAY = {"queued", "running"}
_REVIEWED = {"scored", "accepted", "rejected"}


def build(site: Site, blocks: gr.Blocks) -> None:
    """The page of one run."""
    top()
    head = gr.HTML(elem_id="run")
    with gr.Column(visible=False, elem_classes="act") as acting:
        reason = gr.Textbox(
            label="Reason", info="It is recorded and shown.", lines=2, max_lines=6, elem_id="reason"
        )
        with gr.Row(elem_classes="buttons"):
            accept = gr.Button("Accept", variant="primary", elem_id="accept")
            reject = gr.Button("Reject", variant="stop", elem_id="reject")
            cancel = gr.Button("Cancel the run", variant="stop", elem_id="cancel")
        error = gr.HTML(elem_id="error")
    rest = gr.HTML()
    past = gr.HTML(elem_id="history")
    shown = [head, acting, accept, reject, cancel, rest, past]

    def show(request: gr.Request, token: gr.OAuthToken | None) -> tuple[Any, ...]:
        found = site.attempt(lambda: site.service.read.run_detail(query(request, "id")))
        if isinstance(found, ArenaError):
            hidden = gr.update(visible=False)
            return (
                site.error(found),
                hidden,
                hidden,
                hidden,
                hidden,
                "",
                "",
                ticking(isinstance(found, StoreUnavailable)),
            )
        return _parts(site, found, site.guest(token))

    def after(token: gr.OAuthToken | None, done: RunDetail | ArenaError) -> tuple[Any, ...]:
        """The error box and the reason as it was typed; or the page anew, and no reason."""
        if isinstance(done, ArenaError):
            return site.error(done), gr.skip(), *[gr.skip() for _ in shown], gr.skip()
        return "", "", *_parts(site, done, site.guest(token))

    def on_cancel(text: str, request: gr.Request, token: gr.OAuthToken | None) -> tuple[Any, ...]:
        own = query(request, "id")
        done = site.attempt(lambda: site.service.cancel(site.who(token), own, text))
        return after(token, done)

    def reviewing(verdict: Verdict) -> Any:
        def on_review(
            text: str, request: gr.Request, token: gr.OAuthToken | None
        ) -> tuple[Any, ...]:
            own = query(request, "id")
            done = site.attempt(lambda: site.service.review(site.who(token), own, verdict, text))
            return after(token, done)

        return on_review

    timer = live(blocks, show, shown)
    for button, handler in (
        (accept, reviewing("accepted")),
        (reject, reviewing("rejected")),
        (cancel, on_cancel),
    ):
        writing(button, handler, [reason], [error, reason, *shown, timer])


def _parts(site: Site, found: RunDetail, who: Identity | None) -> tuple[Any, ...]:
    """What the page shows of a run to `who`, in the order of its components, and the timer."""
    read = site.service.read
    lines = read.run_lines(found.id)[-SHOWN_LINES:]
    can_review = read.is_editor(who, found.challenge) and found.state in _REVIEWED
    being_released = found.state == "accepted" and found.release is None
    can_cancel = read.may_launch(who, found.submission) and found.state in _UNDER_WAY
    return (
        site.render("run", r=found, note=_note(site, found, who), lines=lines),
        gr.update(visible=can_review or can_cancel),
        gr.update(visible=can_review and found.state != "accepted" and not found.withdrawal),
        gr.update(visible=can_review and found.state != "rejected"),
        gr.update(visible=can_cancel),
        site.render("run_rest", r=found) if found.change_pp is not None else "",
        section(site, found.id),
        ticking(found.state in _UNDER_WAY or being_released),
    )


def _note(site: Site, found: RunDetail, who: Identity | None) -> EditorsNote | None:
    """What an editor should know of the collection's likeness to held-out tasks."""
    if who is None or found.state not in _REVIEWED or not site.service.read.edits_any(who):
        return None
    return site.service.suspects(who, found.submission)
