"""`arena run preflight|launch|show|logs|cancel|list`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from arena.addresses import address
from arena.cli.connection import Json, Reason, Wait, client, follow
from arena.cli.output import facts, note, note_more, out, plain, print_json, state, table
from arena.figures import about, interval, percent, pp

Run = dict[str, Any]
_PREFLIGHT = "Mend what fails, then ask again."
OVER = {"scored", "accepted", "rejected", "failed", "cancelled"}

app = typer.Typer(help="Launch runs of collections, and follow them.")


def register(parent: typer.Typer) -> None:
    """Adds `arena run`."""
    parent.add_typer(app, name="run")


@app.command()
def preflight(
    submission: Annotated[str, typer.Argument(help="A submission's id.")],
    challenge: Annotated[str, typer.Option("--challenge", help="The challenge's id.")],
    json: Json = False,
) -> int:
    """Every condition of a launch, and whether it holds now; exit 1 where one fails."""
    body = {"submission": submission, "challenge": challenge}
    answer = client().post("/runs:preflight", body)
    found = answer["preflight"]
    failed = [c for c in found["conditions"] if c["outcome"] == "fail"]
    if json:
        if failed:
            first = {"code": failed[0]["code"], "message": failed[0]["why"], "next": _PREFLIGHT}
            answer = {**answer, "ok": False, "error": first}
        print_json(answer)
    else:
        rows = [[c["name"], state(c["outcome"]), c["why"]] for c in found["conditions"]]
        table(["condition", "outcome", "~why"], rows, empty="")
        if not failed:
            note(f"Next: arena run launch {submission} --challenge {challenge}")
    return int(bool(failed))


@app.command()
def launch(
    submission: Annotated[str, typer.Argument(help="A valid submission's id.")],
    challenge: Annotated[str, typer.Option("--challenge", help="The challenge's id.")],
    wait: Wait = False,
    json: Json = False,
) -> int:
    """Queue a run of a valid submission."""
    arena = client(json)
    body = {"submission": submission, "challenge": challenge}
    run = arena.post("/runs:launch", body)["run"]
    if wait:
        path = address("runs", run["id"])
        run = follow(
            lambda: arena.get(path)["run"],
            lambda r: r["state"] in OVER,
            describe,
            quiet=json,
            found=run,
        )
    return _print(run, json, wait)


@app.command()
def show(
    run: Annotated[str, typer.Argument(help="The run's id.")],
    wait: Wait = False,
    json: Json = False,
) -> int:
    """One run: its stages, its result, its reviews."""
    arena = client()
    found = follow(
        lambda: arena.get(address("runs", run))["run"],
        lambda r: not wait or r["state"] in OVER,
        describe,
        quiet=json,
    )
    return _print(found, json, wait)


@app.command()
def logs(run: Annotated[str, typer.Argument(help="The run's id.")], json: Json = False) -> None:
    """What gate and training said of the collection's tasks; of held-out tasks, nothing."""
    answer = client().get_all(address("runs", run, "logs"), "lines")
    if json:
        print_json(answer)
        return
    for line in answer["lines"]:
        out.print(Text.assemble((f"{line['stage']:<5} ", "dim"), plain(line["text"])))
    if not answer["lines"]:
        note("Nothing was said, or it is kept no more: the arena keeps it in memory.")


@app.command()
def cancel(
    run: Annotated[str, typer.Argument(help="The run's id.")], reason: Reason, json: Json = False
) -> int:
    """End a queued or running run; cancelled by its author, a running one counts."""
    return _print(
        client(json).post(address("runs", f"{run}:cancel"), {"reason": reason})["run"], json, False
    )


@app.command("list")
def list_runs(
    challenge: Annotated[str | None, typer.Option("--challenge", help="Of one challenge.")] = None,
    json: Json = False,
) -> None:
    """Runs, newest first."""
    answer = client().get("/runs", challenge=challenge, limit=200)
    if json:
        print_json(answer)
    else:
        print_runs(answer["runs"], "No run yet: arena run launch SUBMISSION --challenge demo")
        note_more(answer)


def print_runs(runs: list[Run], empty: str) -> None:
    """Runs in a table."""
    table(
        ["run", "state", "challenge", "~title", "by", ">before %", ">after %", ">change pp"],
        [
            [
                r["id"],
                state(r["state"]),
                r["challenge"],
                r["title"],
                r["by"],
                percent(r["before"]),
                percent(r["after"]),
                pp(r["change_pp"]),
            ]
            for r in runs
        ],
        empty,
    )


def describe(run: Run) -> str:
    """How far a run is, in one line."""
    if run["state"] == "queued":
        waits = "" if run["worker_alive"] else "; no worker is heard of"
        if run["held"]:
            waits = f"; not given to a worker: {run['held']}"
        return f"{run['id']}: queued, place {run['place']}{waits}"
    current = next((s for s in run["stages"] if s["status"] == "running"), None)
    if current is None:
        return f"{run['id']}: {run['state']}"
    return f"{run['id']}: {current['stage']}{_counts(current, run['seconds_left'])}"


def _counts(stage: dict[str, Any], run_left: float | None) -> str:
    """How much of a stage is done, with the reward so far and what is left, where known."""
    if not stage["total"]:
        return ""
    told = [f" {stage['done']}/{stage['total']}"]
    if stage["reward"] is not None:
        told.append(f"reward {stage['reward']:.2f}")
    if stage["seconds_left"] is not None:
        told.append(f"{about(stage['seconds_left'])} left")
    if run_left is not None:
        told.append(f"of the run {about(run_left)}")
    return ", ".join(told)


def _print(run: Run, json: bool, waited: bool) -> int:
    failure = run["failure"]
    bad = waited and failure is not None
    if json:
        error = failure and {
            "code": failure["code"],
            "message": failure["reason"],
            "next": _next(failure),
        }
        print_json({"ok": not bad} | ({"error": error} if bad else {}) | {"run": run})
        return int(bad)
    _print_facts(run)
    if run["domains"]:
        out.print()
        print_rates("domain", run["domains"])
    if run["tasks"]:
        print_rates("task", run["tasks"])
    if run["state"] == "scored" and not run["withdrawal"]:
        note("Next: an editor reviews it; then it ranks.")
    return int(bad)


def _next(failure: dict[str, Any]) -> str:
    if failure["fault"] == "author":
        return "Mend the collection, submit the new commit, launch again."
    cost = "It counts as one of the collection's runs" if failure["counts"] else "It cost nothing"
    if failure["code"] == "withdrawn":
        return f"{cost}; the collection was withdrawn, and can be entered again."
    return f"{cost}; launch again."


def _print_facts(run: Run) -> None:
    failure, review = run["failure"], run["reviews"][-1] if run["reviews"] else None
    current = describe(run).partition(": ")[2]
    scored = run["change_pp"] is not None
    facts(
        [
            ("run", run["id"]),
            ("state", state(run["state"])),
            ("stage", current if run["state"] in {"queued", "running"} else None),
            ("challenge", run["challenge"]),
            ("collection", f"{run['title']} ({run['collection'][:12]})"),
            ("before", f"{percent(run['before'])} %" if scored else None),
            ("after", f"{percent(run['after'])} %" if scored else None),
            (
                "change",
                f"{pp(run['change_pp'])} pp, 95 % {interval(run['ci95_pp'])}" if scored else None,
            ),
            ("requeued", run["requeued"] and run["requeued"]["reason"]),
            ("failed", failure and f"{failure['code']}: {failure['reason']}"),
            ("fault", failure and failure["fault"]),
            ("next", failure and _next(failure)),
            ("withdrawn", run["withdrawal"] and f"the collection: {run['withdrawal']['reason']}"),
            ("review", review and f"{review['verdict']} by {review['by']}: {review['reason']}"),
            ("commons", run["release"] and f"{run['release']['repo']}/{run['release']['folder']}"),
        ]
    )


def print_rates(name: str, rows: list[dict[str, Any]]) -> None:
    """Before, after and change by domain or task."""
    table(
        [name, ">before %", ">after %", ">change pp"],
        [
            [
                r[name],
                percent(r["before"]),
                percent(r["after"]),
                pp(
                    None
                    if r["before"] is None or r["after"] is None
                    else (r["after"] - r["before"]) * 100
                ),
            ]
            for r in rows
        ],
        empty="",
    )
