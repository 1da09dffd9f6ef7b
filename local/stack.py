"""The whole arena on one machine: `make run`.

    python -m local.stack [--dir DIR] [--port PORT] [--hub-port PORT] [--challenges DIR]

Starts the local hub, publishes the demo on it, finds or starts a Docker engine, then the web app
and a worker. Ctrl-C ends all of it; what was entered is still there next time.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.processes import Process, StartError
from local import engine as engines
from local.baseimages import BaseImageError, ensure_base_images

ROOT = Path(__file__).resolve().parent.parent
_SOON_SECONDS = 10  # a worker that ends sooner would end again
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Options:
    """Where a stack lives, and what it publishes."""

    directory: Path = ROOT / ".local"
    port: int = 7860
    hub_port: int = 7861
    challenges: Path = ROOT / "challenges"
    challenge: str = "demo"
    tasks: int | None = None
    suite_tasks: int | None = None
    cache: Path = ROOT / ".local" / "cache"
    docker: Path = ROOT / ".local" / "docker"
    """Where an engine of this stack's own is kept; only one from here is ended with it."""
    lease_seconds: float = 30

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def hub_url(self) -> str:
        return f"http://127.0.0.1:{self.hub_port}"


class Stack:
    """Hub, app and worker, started in that order and stopped in the other."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.processes: list[Process] = []
        self.engine = engines.Engine(None, private=False, reason="not looked for yet")
        self._worker_began = 0.0

    def start(self) -> None:
        """Starts everything.

        Raises:
            StartError: a port is taken, or a part did not come up.
        """
        options = self.options
        if options.port == options.hub_port:
            raise StartError("The web app and the local hub need different ports.")
        for port in (options.port, options.hub_port):
            _require_free(port)
        options.directory.mkdir(parents=True, exist_ok=True)
        _say("Starting the local hub …")
        hub = self._start("hub", "-m", "arena.localhub", "--data", str(options.directory / "hub"))
        hub.wait_until_answers(f"{options.hub_url}/_local/health")
        _say("Publishing the demo (the first time its base model is made, in about a minute) …")
        self._publish()
        _say("Looking for a Docker engine …")
        self.engine = engines.ensure_engine(options.docker)
        if self.engine.url and self.engine.private:
            try:
                ensure_base_images(self.engine.url)
            except BaseImageError as exc:
                raise StartError(str(exc)) from exc
        _say("Starting the web app and a worker …")
        self.start_app()
        self.start_worker()

    def start_app(self) -> Process:
        """Starts the web app and waits until it answers."""
        app = self._start("app", str(ROOT / "app.py"))
        app.wait_until_answers(f"{self.options.url}/healthz")
        return app

    def start_worker(self) -> Process:
        """Starts a worker."""
        self._worker_began = time.monotonic()
        return self._start("worker", "-m", "arena", "worker")

    def replace_worker(self, dead: Process) -> bool:
        """Starts another worker where the dead part is one that had worked for a while.

        Its run goes back to the queue when its lease expires; the arena goes on.
        """
        if dead.name != "worker" or time.monotonic() - self._worker_began < _SOON_SECONDS:
            return False
        _say(f"The worker ended by itself; another is started. {dead.log}")
        self.processes.remove(dead)
        self.start_worker()
        return True

    def stop(self) -> None:
        """Stops everything, the worker first: it tells the app what it gives up."""
        for process in reversed(self.processes):
            process.stop()

    def died(self) -> Process | None:
        """A part that ended by itself."""
        return next((p for p in self.processes if not p.running), None)

    def env(self, name: str) -> dict[str, str]:
        """The environment of a part: the Space's variables with a laptop's values."""
        options = self.options
        shared = {
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "HF_ENDPOINT": options.hub_url,
            "HF_HOME": str(options.directory / "huggingface"),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "GRADIO_ANALYTICS_ENABLED": "False",
            "ARENA_CHALLENGES": str(options.challenges),
            "ARENA_SUITE_KEY": self._secret("suite-key"),
            "OAUTH_CLIENT_ID": "posttrain-arena-local",
            "OAUTH_CLIENT_SECRET": self._secret("oauth-secret"),
        }
        own: dict[str, dict[str, str]] = {
            "hub": {"PORT": str(options.hub_port)},
            "publish": {},
            "app": {
                "SYSTEM": "spaces",
                "SPACE_ID": "arena/posttrain-arena",
                "OAUTH_SCOPES": "openid profile",
                "OPENID_PROVIDER_URL": options.hub_url,
                "HF_TOKEN": "hf_arena",
                "HOST": "127.0.0.1",
                "PORT": str(options.port),
                "ARENA_DATA": str(options.directory / "app"),
                "ARENA_LEASE_SECONDS": str(options.lease_seconds),
                "ARENA_COMMITS_PER_HOUR": "600",  # the local hub has no limit as the Hub has
            },
            "worker": {
                "HF_TOKEN": "hf_worker",
                "ARENA_URL": options.url,
                "ARENA_WORKER_DATA": str(options.directory / "worker"),
                **({"DOCKER_HOST": self.engine.url} if self.engine.url else {}),
            },
        }
        return {**_without_arena(os.environ), **shared, **own[name]}

    def _start(self, name: str, *arguments: str) -> Process:
        if name == "hub":
            arguments = (*arguments, "--port", str(self.options.hub_port))
        logs = self.options.directory / "logs"
        process = Process.start(name, [sys.executable, *arguments], self.env(name), logs)
        self.processes.append(process)
        return process

    def _publish(self) -> None:
        options = self.options
        arguments = ["--endpoint", options.hub_url, "--challenges", str(options.challenges)]
        arguments += ["--challenge", options.challenge, "--cache", str(options.cache)]
        for name, count in (("--tasks", options.tasks), ("--suite-tasks", options.suite_tasks)):
            arguments += [name, str(count)] if count else []
        done = subprocess.run(
            [sys.executable, "-m", "local.demo.publish", *arguments],
            env=self.env("publish"),
            cwd=ROOT,
            check=False,
        )
        if done.returncode:
            raise StartError("The demo could not be published; what it said stands above.")

    def _secret(self, name: str) -> str:
        """A secret of this directory, made once."""
        path = self.options.directory / name
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(secrets.token_hex(32))
        return path.read_text()


def _without_arena(env: Mapping[str, str]) -> dict[str, str]:
    """The user's environment without what would reach their real accounts or another arena."""
    prefixes = ("HF_", "GITHUB_", "ARENA_", "OAUTH_", "SPACE_", "GRADIO_")
    of_the_machine = {"ARENA_IMAGE_CACHE_GB"}
    return {k: v for k, v in env.items() if k in of_the_machine or not k.startswith(prefixes)}


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as exc:
            raise StartError(
                f"Port {port} is taken. End what uses it, or choose others, free now: "
                f"make run PORT={_free_port()} HUB_PORT={_free_port()}"
            ) from exc


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _say(text: str) -> None:
    print(text, flush=True)


def _welcome(stack: Stack) -> None:
    options, docker = stack.options, stack.engine
    takes = "ready" if docker.url else f"takes no runs: {docker.reason}"
    port = "" if options.port == 7860 else f" ARENA_URL={options.url}"
    _say(f"""
  PostTrain Arena   {options.url}
  Local hub         {options.hub_url}
  Demo challenge    {takes}

  In the browser: sign in as `author`, submit  hf:author/example-collection@main,
  launch a run of it, then sign in as `editor` and accept the result.

  On the command line (tokens of the local accounts):
    export HF_ENDPOINT={options.hub_url}{port}
    HF_TOKEN=hf_author .venv/bin/arena submit hf:author/example-collection@main --title Demo --wait
    HF_TOKEN=hf_author .venv/bin/arena run launch SUBMISSION --challenge demo --wait
    HF_TOKEN=hf_editor .venv/bin/arena review accept RUN --reason "Looks right."
    .venv/bin/arena leaderboard

  Logs: {options.directory / "logs"}. Ctrl-C ends everything; what was entered stays.
""")


class _Ended(BaseException):
    """Somebody ended the program; raised out of whatever it is waiting for."""


def _end(*_: object) -> None:
    for name in _ENDING:
        signal.signal(name, signal.SIG_IGN)  # what follows stops everything in order, once
    raise _Ended


def main() -> int:
    """Runs until Ctrl-C, or until a part ends by itself."""
    options = _options()
    stack = Stack(options)
    for name in _ENDING:
        signal.signal(name, _end)
    try:
        stack.start()
        _welcome(stack)
        while (dead := stack.died()) is None or stack.replace_worker(dead):
            time.sleep(0.5)
        _say(f"{dead.name} ended by itself:\n{dead.log_tail()}")
    except StartError as exc:
        _say(str(exc))
    except _Ended:
        _say("\nStopping …")
        return 0
    finally:
        stack.stop()
        if stack.engine.private:
            engines.stop_engine(options.docker)
    return 1


def _options() -> Options:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dir", type=Path, default=Options.directory)
    parser.add_argument("--port", type=int, default=Options.port)
    parser.add_argument("--hub-port", type=int, default=Options.hub_port)
    parser.add_argument("--challenges", type=Path, default=Options.challenges)
    arguments = parser.parse_args()
    return Options(
        directory=arguments.dir.resolve(),
        port=arguments.port,
        hub_port=arguments.hub_port,
        challenges=arguments.challenges.resolve(),
        docker=arguments.dir.resolve() / "docker",
    )


if __name__ == "__main__":
    sys.exit(main())
