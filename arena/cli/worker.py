"""`arena worker`: execute runs and replays (organizers)."""

from __future__ import annotations

import logging
import os
import signal
from typing import Annotated

import typer

from arena.addresses import DEFAULT_URL
from arena.errors import ArenaError, SignInRequired
from arena.settings import SettingsError


class WorkerSetup(ArenaError):
    code, status = "worker_setup", 400
    text = "The worker does not start: {problem}."
    advice = "docs/architecture.md says what a worker needs."


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("worker")(worker)


def worker(
    once: Annotated[
        bool, typer.Option("--once", help="Stop after one run; replay nothing.")
    ] = False,
) -> None:
    """Execute the arena's runs, and replay what was entered while none waits, until stopped."""
    try:
        # the trainer's libraries are installed on workers only
        from huggingface_hub import get_token

        from arena.runs.worker import Worker, WorkerSettings
    except ImportError as exc:
        problem = f"{exc.name} is missing; pip install -r requirements-posttrain.txt"
        raise WorkerSetup(problem=problem) from exc
    token = get_token()
    if not token:
        raise SignInRequired
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    url = os.environ.get("ARENA_URL", DEFAULT_URL)
    try:
        running = Worker(WorkerSettings.from_env(os.environ, url, token))
    except SettingsError as exc:
        raise WorkerSetup(problem=exc) from exc
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: running.stop())
    running.work(once)
