"""`/admin`: for editors: reviews that wait, the challenges' states, claims, queue and workers."""

from __future__ import annotations

from typing import Any

import gradio as gr

from arena.errors import ArenaError, NotEditor
from arena.identity import Identity
from arena.web.layout import top, writing
from arena.web.site import QUIET, SHOWN, Site

_ACTIONS = (("Resume", "open"), ("Pause", "paused"), ("Close", "closed"))


def build(site: Site, blocks: gr.Blocks) -> None:
    """The editors' page; others are told what it is and what they lack."""
    top()
    body = gr.HTML(elem_id="admin")
    with gr.Column(visible=False, elem_classes="act") as acting:
        challenge = gr.Dropdown([], label="Challenge", elem_id="challenge")
        reason = gr.Textbox(
            label="Reason", info="It is recorded and shown.", lines=2, max_lines=6, elem_id="reason"
        )
        with gr.Row(elem_classes="buttons"):
            buttons = [(gr.Button(name, elem_id=to), to) for name, to in _ACTIONS]
        error = gr.HTML(elem_id="error")
        settling = _Claim()

    def show(token: gr.OAuthToken | None) -> tuple[Any, ...]:
        who = site.attempt(lambda: _editor(site, site.who(token)))
        if isinstance(who, ArenaError):
            html = site.render("heading", title="Admin") + site.error(who)
            return html, gr.update(visible=False), gr.skip()
        ids = [c.id for c in site.service.read.challenge_views()]
        return _body(site), gr.update(visible=True), gr.Dropdown(ids, value=ids[0] if ids else None)

    def setting(to: str) -> Any:
        def on_click(chosen: str, text: str, token: gr.OAuthToken | None) -> tuple[Any, Any, Any]:
            done = site.attempt(
                lambda: site.service.set_challenge_state(site.who(token), chosen, to, text)
            )
            if isinstance(done, ArenaError):
                return site.error(done), gr.skip(), gr.skip()
            return "", "", _body(site)

        return on_click

    def settle(
        own: str, author: str, text: str, token: gr.OAuthToken | None
    ) -> tuple[Any, Any, Any, Any, Any]:
        done = site.attempt(
            lambda: site.service.settle_claim(site.who(token), own.strip(), author, text)
        )
        if isinstance(done, ArenaError):
            return site.error(done), gr.skip(), gr.skip(), gr.skip(), gr.skip()
        return "", "", "", "", _body(site)

    blocks.load(show, None, [body, acting, challenge], **QUIET)
    writing(settling.button, settle, settling.fields, [settling.error, *settling.fields, body])
    for button, to in buttons:
        writing(button, setting(to), [challenge, reason], [error, reason, body])


class _Claim:
    """The form by which an editor settles whose a submission is."""

    def __init__(self) -> None:
        gr.Markdown("## Settle a claim")
        info = "The author's rights over it and its content go to one Hub user alone."
        self.fields = [
            gr.Textbox(label="Submission", placeholder="sub_…", max_lines=1, elem_id="claimed"),
            gr.Textbox(label="Author", info=info, max_lines=1, elem_id="claimant"),
            gr.Textbox(
                label="Reason",
                info="It is recorded and shown.",
                lines=2,
                max_lines=6,
                elem_id="claim-reason",
            ),
        ]
        self.button = gr.Button("Settle the claim", elem_id="settle")
        self.error = gr.HTML(elem_id="claim-error")


def _editor(site: Site, who: Identity) -> Identity:
    """An editor of the arena or of one of its challenges.

    Raises:
        NotEditor.
    """
    if not site.service.read.edits_any(who):
        organization = site.service.challenges.arena.organization
        raise NotEditor(user=who.user, challenge="this arena", organization=organization)
    return who


def _body(site: Site) -> str:
    read = site.service.read
    return site.render(
        "admin",
        waiting=[run for run in read.run_views(states={"scored"}) if not run.withdrawal],
        moving=list(reversed(read.run_views(states={"queued", "running"}))),
        challenges=read.challenge_views(),
        workers=site.service.queue.workers(),
        health=site.service.health.view(),
        claimed=read.submission_views(claimed=True)[:SHOWN],
    )
