"""`arena review list|accept|reject` (editors)."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.addresses import address
from arena.cli.connection import Json, Reason, client
from arena.cli.output import facts, note, out, plain, print_json, state, table
from arena.cli.runs import print_runs

app = typer.Typer(help="Review results (editors).")
RunId = Annotated[str, typer.Argument(help="A scored run's id.")]


def register(parent: typer.Typer) -> None:
    """Adds `arena review`."""
    parent.add_typer(app, name="review")


@app.command("list")
def list_waiting(json: Json = False) -> None:
    """Results that wait for a review."""
    answer = client().get_all("/runs", "runs")
    waiting = [run for run in answer["runs"] if run["state"] == "scored" and not run["withdrawal"]]
    if json:
        print_json({"ok": True, "runs": waiting})
    else:
        print_runs(waiting, "No result waits for a review.")


@app.command()
def accept(run: RunId, reason: Reason, json: Json = False) -> None:
    """Accept a result: it ranks, and its collection is released to the commons."""
    _review(run, "accepted", reason, json)


@app.command()
def reject(run: RunId, reason: Reason, json: Json = False) -> None:
    """Reject a result: it does not rank."""
    _review(run, "rejected", reason, json)


@app.command()
def suspects(
    submission: Annotated[str, typer.Argument(help="A submission's id.")], json: Json = False
) -> None:
    """Packages that are like held-out tasks, and not copies: for editors alone."""
    answer = client().get(address("submissions", submission, "suspects"))
    found = answer["note"]
    if json:
        print_json(answer)
        return
    for concern in found["concerns"]:
        out.print(plain(f"{concern}."))
    table(
        ["package", "challenge", ">task", "what matched", ">similarity", ">suspect from"],
        [
            [
                plain(s["package"]),
                plain(s["challenge"]),
                str(s["task"]),
                s["part"],
                f"{s['similarity']:.2f}",
                f"{s['threshold']:.2f}",
            ]
            for s in found["suspects"]
        ],
        empty="No package is a suspect.",
    )
    if found["borrowed"]:
        out.print("Near copies of packages that the arena accepted from others:")
        rows = [
            [
                plain(b["package"]),
                plain(b["original"]),
                b["submission"],
                b["part"],
                f"{b['similarity']:.2f}",
            ]
            for b in found["borrowed"]
        ]
        table(["package", "original", "of", "what matched", ">similarity"], rows, empty="")
    if found["left_out"]:
        note(f"{found['left_out']} more are not listed.")
    if cut := found["cut"]:
        more = found["cut_in_all"] - len(cut)
        named = ", ".join(map(plain, cut)) + (f" and {more} more" if more > 0 else "")
        note(f"With more text than is compared: {named}")


def _review(run: str, verdict: str, reason: str, json: bool) -> None:
    answer = client(json).post("/reviews", {"run": run, "verdict": verdict, "reason": reason})
    if json:
        print_json(answer)
        return
    found = answer["run"]
    facts([("run", run), ("state", state(found["state"])), ("reason", reason)])
