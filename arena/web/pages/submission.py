"""`/submission?id=…`: one submission: validation, replay, runs; launching one, withdrawing it."""

from __future__ import annotations

from typing import Any

import gradio as gr

from arena.errors import ArenaError, StoreUnavailable
from arena.identity import Identity
from arena.views import SubmissionDetail
from arena.web.layout import Going, live, query, ticking, top, writing
from arena.web.pages.history import section
from arena.web.site import QUIET, Site

STAGES = ("fetching", "checking", "comparing")
_ENDED = {"valid", "invalid", "failed", "withdrawn"}
_OVER = {"invalid", "failed", "withdrawn"}  # nothing is left to withdraw
_UNDER_WAY = {"queued", "running"}


def build(site: Site, blocks: gr.Blocks) -> None:
    """The page of one submission."""
    top()
    head = gr.HTML()
    with gr.Column(visible=False, elem_classes="act") as launching:
        challenge = gr.Dropdown([], label="Challenge", elem_id="challenge")
        preflight = gr.HTML(elem_id="preflight")
        button = gr.Button("Launch a run", variant="primary", elem_id="launch")
        error = gr.HTML(elem_id="error")
    going = Going()  # outside: showing a column shows all that is in it
    runs = gr.HTML()
    packages = gr.HTML(elem_id="packages")  # of its own: a run's progress must not shut its folds
    with (
        gr.Column(visible=False, elem_classes="act") as withdrawing,
        gr.Accordion("Withdraw this submission", open=False, elem_id="withdrawing"),
    ):
        reason = gr.Textbox(
            label="Reason",
            info="It is recorded and shown. Runs under way end; what was released stays released.",
            lines=2,
            max_lines=6,
            elem_id="reason",
        )
        withdraw = gr.Button("Withdraw", variant="stop", elem_id="withdraw")
        refused = gr.HTML(elem_id="refused")
    past = gr.HTML(elem_id="history")
    shown = [head, launching, challenge, preflight, runs, packages, withdrawing, past]

    def show(
        chosen: str | None, request: gr.Request, token: gr.OAuthToken | None
    ) -> tuple[Any, ...]:
        found = site.attempt(lambda: site.service.read.submission_detail(query(request, "id")))
        if isinstance(found, ArenaError):
            hidden = gr.Column(visible=False)
            return (
                site.error(found),
                hidden,
                gr.skip(),
                "",
                "",
                "",
                hidden,
                "",
                ticking(isinstance(found, StoreUnavailable)),
            )
        return parts(found, chosen, site.guest(token))

    def parts(found: SubmissionDetail, chosen: str | None, who: Identity | None) -> tuple[Any, ...]:
        moving = found.state not in _ENDED or (found.replay and found.replay.state != "done")
        list_of_runs, runs_moving = _runs(site, found)
        return (
            _head(site, found),
            *_launching(site, found, who, chosen),
            list_of_runs,
            _packages(site, found),
            gr.Column(
                visible=found.state not in _OVER and site.service.read.is_author(who, found.id)
            ),
            section(site, found.id),
            ticking(bool(moving or runs_moving)),
        )

    def choose(chosen: str, request: gr.Request, token: gr.OAuthToken | None) -> str:
        return _preflight(site, query(request, "id"), site.guest(token), chosen)

    def launch(chosen: str, request: gr.Request, token: gr.OAuthToken | None) -> tuple[str, str]:
        own = query(request, "id")
        done = site.attempt(lambda: site.service.launch(site.who(token), own, chosen))
        if isinstance(done, ArenaError):
            return site.error(done), ""
        return "", f"/run?id={done.id}"

    def on_withdraw(
        text: str, chosen: str | None, request: gr.Request, token: gr.OAuthToken | None
    ) -> tuple[Any, ...]:
        own = query(request, "id")
        done = site.attempt(lambda: site.service.withdraw(site.who(token), own, text))
        if isinstance(done, ArenaError):
            return site.error(done), gr.skip(), *[gr.skip() for _ in shown], gr.skip()
        return "", "", *parts(done, chosen, site.guest(token))

    timer = live(blocks, show, shown, [challenge])
    challenge.input(choose, [challenge], [preflight], **QUIET)
    writing(withdraw, on_withdraw, [reason, challenge], [refused, reason, *shown, timer])
    going.on(button, launch, [challenge], [error])


def _head(site: Site, found: SubmissionDetail) -> str:
    took = {row.stage: row.seconds for row in found.stages}
    now = "fetching" if found.state == "waiting" else found.state
    stages = [
        (name, "done" if name in took else "running" if name == now else "waiting", took.get(name))
        for name in STAGES
    ]
    return site.render("submission", s=found, stages=stages, ended=found.state in _ENDED)


def _runs(site: Site, found: SubmissionDetail) -> tuple[str, bool]:
    runs = [site.service.read.run_detail(run) for run in reversed(found.runs)]
    html = site.render("submission_runs", s=found, runs=runs)
    return html, any(run.state in _UNDER_WAY for run in runs)


def _packages(site: Site, found: SubmissionDetail) -> str:
    rows = {row.name: row for row in found.replay.packages} if found.replay else {}
    return site.render("submission_packages", s=found, rows=rows)


def _launching(
    site: Site, found: SubmissionDetail, who: Identity | None, chosen: str | None
) -> tuple[Any, Any, str]:
    """The form for launching: shown to those who may, once there is something to run.

    What is chosen there stays chosen while the page follows what goes on.
    """
    read = site.service.read
    if found.state != "valid" or not read.may_launch(who, found.id):
        return gr.Column(visible=False), gr.skip(), ""
    choices = [
        (c.title if c.takes_runs else f"{c.title} (takes no runs: {c.why_not})", c.id)
        for c in read.challenge_views()
    ]
    if chosen not in [challenge for _, challenge in choices]:
        chosen = choices[0][1] if choices else None
    told = _preflight(site, found.id, who, chosen)
    return gr.Column(visible=True), gr.Dropdown(choices, value=chosen), told


def _preflight(site: Site, submission: str, who: Identity | None, challenge: str | None) -> str:
    """What a launch takes, and whether it is there now."""
    if who is None or not challenge:
        return ""
    found = site.attempt(lambda: site.service.preflight(who, submission, challenge))
    return "" if isinstance(found, ArenaError) else site.render("preflight", p=found)
