"""The pages, each a module of its own, in the order of their tabs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gradio as gr

from arena.web.pages import (
    admin,
    commons,
    docs,
    front,
    history,
    leaderboard,
    run,
    runs,
    status,
    submission,
    submit,
)
from arena.web.site import Site


@dataclass(frozen=True)
class Page:
    """A page: its name in the bar, its address, what builds it."""

    name: str
    path: str
    build: Callable[[Site, gr.Blocks], None]
    in_bar: bool = True


PAGES = (
    Page("Arena", "", front.build),
    Page("Submit", "submit", submit.build),
    Page("Status", "status", status.build),
    Page("Leaderboard", "leaderboard", leaderboard.build),
    Page("Runs", "runs", runs.build),
    Page("Commons", "commons", commons.build),
    Page("Docs", "docs", docs.build),
    Page("Admin", "admin", admin.build),
    Page("Submission", "submission", submission.build, in_bar=False),
    Page("Run", "run", run.build, in_bar=False),
    Page("History", "history", history.build, in_bar=False),
)
