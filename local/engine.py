"""The Docker engine that this machine offers: one that runs, else a private one of our own.

python -m local.engine start|stop|status [--dir DIR]
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from docker.context import ContextAPI

from local import daemon, debian

DEFAULT_DIRECTORY = Path(".local/docker")


@dataclass(frozen=True)
class Engine:
    """An engine's address, or None with the reason in words; `private`: started by us."""

    url: str | None
    private: bool
    reason: str | None = None


def find_engine(directory: Path = DEFAULT_DIRECTORY) -> Engine | None:
    """The engine that answers already: the user's own first, then ours."""
    ours = daemon.Paths.under(directory).url
    for url in [*_users_addresses(), ours]:
        if daemon.answers(url):
            return Engine(url, private=url == ours)
    return None


def ensure_engine(directory: Path = DEFAULT_DIRECTORY) -> Engine:
    """An engine that answers; a private one is installed and started where that may be."""
    found = find_engine(directory)
    if found is not None:
        return found
    paths = daemon.Paths.under(directory)
    if os.geteuid() != 0:
        return _none("not root, so none can be installed or started")
    with daemon.locked(paths):
        try:
            if shutil.which("dockerd") is None:
                _install(paths)
                # On a machine with systemd the package starts an engine by itself.
                found = find_engine(directory)
                if found is not None:
                    return found
            daemon.start(paths)
        except (debian.InstallError, daemon.DaemonError) as error:
            return _none(str(error))
    return Engine(paths.url, private=True)


def stop_engine(directory: Path = DEFAULT_DIRECTORY) -> bool:
    """Stop the private engine under `directory`; False where none of ours runs."""
    paths = daemon.Paths.under(directory)
    if not paths.directory.exists():
        return False
    with daemon.locked(paths):
        return daemon.stop(paths)


def _users_addresses() -> list[str]:
    """Where the user's own engine may be: DOCKER_HOST, the Docker CLI's context, the default."""
    addresses = [os.environ.get("DOCKER_HOST"), "unix:///var/run/docker.sock"]
    try:
        context = ContextAPI.get_current_context()
    except Exception:
        # A broken ~/.docker/config.json is the user's to mend and no reason to stop here.
        context = None
    if context is not None:
        addresses.insert(1, context.Host)
    return list(dict.fromkeys(address for address in addresses if address))


def _install(paths: daemon.Paths) -> None:
    reason = debian.why_not_installable()
    if reason is not None:
        raise debian.InstallError(f"{reason}, so none can be installed")
    with (paths.directory / "install.log").open("wb") as log:
        # From Debian 13 on the docker command and its BuildKit are packages of their own.
        debian.install(["docker.io", "busybox-static"], log, ["docker-cli", "docker-buildx"])


def _none(reason: str) -> Engine:
    return Engine(None, private=False, reason=f"no Docker engine: {reason}")


def _report(engine: Engine | None) -> int:
    if engine is None or engine.url is None:
        reason = engine.reason if engine is not None else "no Docker engine answers"
        print(reason, file=sys.stderr)
        return 1
    print(f"DOCKER_HOST={engine.url}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m local.engine", description=__doc__)
    parser.add_argument("action", choices=["start", "stop", "status"])
    parser.add_argument("--dir", type=Path, default=DEFAULT_DIRECTORY)
    options = parser.parse_args(arguments)
    if options.action == "start":
        return _report(ensure_engine(options.dir))
    if options.action == "status":
        return _report(find_engine(options.dir))
    print("stopped" if stop_engine(options.dir) else "no engine of ours runs", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
