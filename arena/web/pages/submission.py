"""`/submission?id=…`: one submission: its validation, its findings, its runs, launching one."""

from __future__ import annotations

from typing import Any

import gradio as gr

from arena.errors import ArenaError
from arena.identity import Identity
from arena.views import SubmissionView
from arena.web.layout import Going, live, query, ticking, top
from arena.web.site import Site

STAGES = ("fetching", "checking", "comparing")
_ENDED = {"valid", "invalid", "failed"}
_UNDER_WAY = {"queued", "running"}


def build(site: Site, blocks: gr.Blocks) -> None:
    """The page of one submission."""
    top()
    head = gr.HTML()
    with gr.Column(visible=False, elem_classes="act") as launching:
        challenge = gr.Dropdown([], label="Challenge", elem_id="challenge")
        button = gr.Button("Launch a run", variant="primary", elem_id="launch")
        error = gr.HTML(elem_id="error")
    going = Going()  # outside: showing a column shows all that is in it
    rest = gr.HTML()

    def show(request: gr.Request, token: gr.OAuthToken | None) -> tuple[Any, ...]:
        found = site.attempt(lambda: site.service.read.submission_view(query(request, "id")))
        if isinstance(found, ArenaError):
            return site.error(found), gr.skip(), gr.skip(), "", ticking(False)
        moving = found.state not in _ENDED
        details, runs_moving = _rest(site, found)
        return (
            _head(site, found),
            *_launching(site, found, site.guest(token)),
            details,
            ticking(moving or runs_moving),
        )

    def launch(chosen: str, request: gr.Request, token: gr.OAuthToken | None) -> tuple[str, str]:
        own = query(request, "id")
        done = site.attempt(lambda: site.service.launch(site.who(token), own, chosen))
        if isinstance(done, ArenaError):
            return site.error(done), ""
        return "", f"/run?id={done.id}"

    live(blocks, show, [head, launching, challenge, rest])
    going.on(button, launch, [challenge], [error])


def _head(site: Site, found: SubmissionView) -> str:
    took = {row.stage: row.seconds for row in found.stages}
    now = "fetching" if found.state == "waiting" else found.state
    stages = [
        (name, "done" if name in took else "running" if name == now else "waiting", took.get(name))
        for name in STAGES
    ]
    return site.render("submission", s=found, stages=stages, ended=found.state in _ENDED)


def _rest(site: Site, found: SubmissionView) -> tuple[str, bool]:
    runs = [site.service.read.run_detail(run) for run in reversed(found.runs)]
    html = site.render("submission_rest", s=found, runs=runs)
    return html, any(run.state in _UNDER_WAY for run in runs)


def _launching(site: Site, found: SubmissionView, who: Identity | None) -> tuple[Any, Any]:
    """The form for launching: shown to those who may, once there is something to run."""
    read = site.service.read
    if found.state != "valid" or not read.may_launch(who, found.id):
        return gr.Column(visible=False), gr.skip()
    choices = [
        (c.title if c.takes_runs else f"{c.title} (takes no runs: {c.why_not})", c.id)
        for c in read.challenge_views()
    ]
    first = choices[0][1] if choices else None
    return gr.Column(visible=True), gr.Dropdown(choices, value=first)
