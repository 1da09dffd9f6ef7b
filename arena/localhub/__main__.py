"""`python -m arena.localhub --data DIR [--port N]`: serve until told to stop."""

import argparse
import os
import shutil
import signal
import socket
import sys
from pathlib import Path
from types import FrameType

import uvicorn

from arena.localhub.repos import DataInUseError
from arena.localhub.server import create_app
from arena.localhub.signin import Application

_DEFAULT_PORT = 7861
_SHUTDOWN_SECONDS = 5


class _Server(uvicorn.Server):
    """Says when it is ready, once it is."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = self.servers[0].sockets[0].getsockname()
        sys.stdout.write(f"Local hub ready at http://{host}:{port}\n")
        sys.stdout.flush()


def _loopback(host: str) -> str:
    if host not in ("127.0.0.1", "localhost"):
        raise argparse.ArgumentTypeError(
            "its tokens are public knowledge, so it serves this computer only: 127.0.0.1"
        )
    return "127.0.0.1"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m arena.localhub",
        description="A Hugging Face Hub and sign-in on this computer.",
        epilog="Sign-in is for the application named by OAUTH_CLIENT_ID and OAUTH_CLIENT_SECRET.",
    )
    parser.add_argument("--data", type=Path, required=True, help="where repositories are kept")
    parser.add_argument("--host", type=_loopback, default="127.0.0.1")
    parser.add_argument("--port", type=int, default=_DEFAULT_PORT, help="0: any free one")
    parser.add_argument(
        "--faults", action="store_true", help="for tests: take faults to make at /admin/faults"
    )
    return parser.parse_args()


def _application() -> Application | None:
    client_id, secret = os.environ.get("OAUTH_CLIENT_ID"), os.environ.get("OAUTH_CLIENT_SECRET")
    return Application(client_id, secret) if client_id and secret else None


def _stop(_number: int, _frame: FrameType | None) -> None:
    # uvicorn finishes what is under way, then raises the signal again: that is no failure.
    raise SystemExit(0)


def main() -> None:
    arguments = _arguments()
    if shutil.which("git") is None:
        raise SystemExit("The local hub cannot start: it keeps repositories with git; install git.")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    try:
        data = arguments.data.resolve()
        app = create_app(data, _application(), with_faults=arguments.faults)
    except (OSError, DataInUseError) as error:
        raise SystemExit(f"The local hub cannot start: {error}") from error
    config = uvicorn.Config(
        app,
        host=arguments.host,
        port=arguments.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    _Server(config).run()


if __name__ == "__main__":
    main()
