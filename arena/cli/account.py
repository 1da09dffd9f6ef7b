"""`arena whoami`, `arena challenges`, `arena challenge pause|resume|close`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arena.addresses import address
from arena.cli.connection import Json, Reason, client
from arena.cli.output import facts, plain, print_json, state, table


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("whoami")(whoami)
    app.command("challenges")(challenges)
    one = typer.Typer(help="Pause, resume or close a challenge (editors).")
    for verb, to in (("pause", "paused"), ("resume", "open"), ("close", "closed")):
        one.command(verb)(_set_state(to))
    app.add_typer(one, name="challenge")


def whoami(json: Json = False) -> None:
    """Who your token belongs to, as the arena sees it."""
    answer = client().get("/whoami")
    if json:
        print_json(answer)
        return
    roles = ", ".join(f"{name} ({role})" for name, role in answer["organizations"].items())
    facts(
        [
            ("user", answer["user"]),
            ("organizations", roles or "none"),
            ("token", answer["token_role"]),
            ("editor", "yes" if answer["editor"] else "no"),
        ]
    )


def challenges(
    challenge: Annotated[str | None, typer.Argument(help="One challenge's id.")] = None,
    json: Json = False,
) -> None:
    """The challenges, and whether each takes runs."""
    if challenge:
        answer = client().get(address("challenges", challenge))
        if json:
            print_json(answer)
        else:
            _show(answer["challenge"])
        return
    answer = client().get("/challenges")
    if json:
        print_json(answer)
        return
    table(
        ["challenge", "~title", "state", "~takes runs", ">queued", ">running", ">workers"],
        [
            [
                c["id"],
                c["title"],
                state(c["state"]),
                "yes" if c["takes_runs"] else f"no: {c['why_not']}",
                str(c["queued"]),
                str(c["running"]),
                str(c["workers"]),
            ]
            for c in answer["challenges"]
        ],
        empty="There is no challenge yet.",
    )


def _show(c: dict[str, Any]) -> None:
    facts(
        [
            ("challenge", f"{c['id']}: {c['title']}"),
            ("summary", c["summary"]),
            ("state", state(c["state"]).append(plain(f" ({c['reason']})"), "default")),
            ("takes runs", "yes" if c["takes_runs"] else f"no: {c['why_not']}"),
            ("workers", f"{c['workers']} connected, {c['running']} running, {c['queued']} queued"),
            ("base model", c["base_model"]),
            ("suite", c["suite"]),
            ("recipe", c["recipe"]),
            ("trials", f"{c['trials']} per task and arm"),
            ("runs", f"{c['runs_per_collection']} per collection"),
            (
                "compute",
                f"{c['used_hours']:.1f} of {c['budget_hours']:g} worker hours used, "
                f"{c['reserved_hours']:.1f} reserved",
            ),
        ]
    )


def _set_state(to: str) -> Any:
    def command(
        challenge: Annotated[str, typer.Argument(help="The challenge's id.")],
        reason: Reason,
        json: Json = False,
    ) -> None:
        answer = client(json).post(
            address("challenges", challenge, "state"), {"state": to, "reason": reason}
        )
        if json:
            print_json(answer)
        else:
            _show(answer["challenge"])

    command.__doc__ = f"Makes a challenge {to}, on record."
    return command
