"""Agents that need no model: what replays, gates and tests act with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.sandbox.session import Session, script_argv

Agent = Callable[[Session], None]
"""Acts through a session. Called again, in a fresh container, when the engine failed under it."""


def untouched() -> Agent:
    """Does nothing: what the environment scores by itself."""

    def act(_session: Session) -> None:
        return

    return act


def oracle() -> Agent:
    """Runs the package's own solution, which no other agent's container holds."""

    def act(session: Session) -> None:
        folder = session.package.root / "oracle"
        session.bring_folder(folder, "/oracle", also="/solution")
        session.run_only(f"exec {script_argv(folder, 'solve.sh', '/oracle')}")

    return act


def scripted(commands: Sequence[str]) -> Agent:
    """Runs these commands, one after another, whatever they exit with."""

    def act(session: Session) -> None:
        for command in commands:
            session.run(command)

    return act
