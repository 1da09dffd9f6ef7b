"""`arena submit`, `validate`, `status`, `withdraw`, and `arena claim settle`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.text import Text

from arena.addresses import address
from arena.cli.connection import Json, Reason, Wait, client, follow
from arena.cli.findings import print_findings
from arena.cli.nearcopies import print_copies, print_twins
from arena.cli.output import facts, note, note_more, out, print_json, state, table
from arena.cli.verdicts import outcome, print_reason, rewards, verdict
from arena.errors import ArenaError

Submission = dict[str, Any]
Address = Annotated[
    str,
    typer.Argument(help="hf:OWNER/NAME@REVISION[:SUBPATH] or github:OWNER/NAME@REVISION[:SUBPATH]"),
]
_ENDED = {"valid", "invalid", "failed", "withdrawn"}


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("submit")(submit)
    app.command("validate")(validate)
    app.command("status")(status)
    app.command("withdraw")(withdraw)
    claims = typer.Typer(help="Settle whose a submission is (editors).")
    claims.command("settle")(settle)
    claims.callback()(_claims)
    app.add_typer(claims, name="claim")


def submit(
    source: Address,
    title: Annotated[str, typer.Option("--title", help="What the collection is called.")],
    wait: Wait = False,
    json: Json = False,
) -> int:
    """Enter a collection. It is pinned to its commit; what is accepted is released openly."""
    arena = client(json)
    submission = arena.post("/submissions", {"source": source, "title": title})["submission"]
    if wait:
        path = address("submissions", submission["id"])
        submission = follow(
            lambda: arena.get(path)["submission"],
            lambda s: s["state"] in _ENDED,
            _describe,
            quiet=json,
            found=submission,
        )
    return _print(submission, json)


def validate(
    source: Address,
    challenge: Annotated[
        str | None, typer.Option("--challenge", help="Also by this challenge's caps and gate.")
    ] = None,
    json: Json = False,
) -> int:
    """Check a public source as a submission is checked, near copies too. Nothing is entered."""
    arena = client()
    body = {"source": source} | ({"challenge": challenge} if challenge else {})
    found: Submission = arena.post("/submissions:validate", body)["validation"]

    def read() -> Submission:
        nonlocal found
        try:
            found = arena.get(address("validations", found["id"]))["validation"]
        except ArenaError as exc:
            if exc.as_dict()["code"] != "unknown_validation":
                raise  # else the arena started anew, and keeps no such thing over that
            found = arena.post("/submissions:validate", body)["validation"]
        return found

    return _print_validation(follow(read, lambda v: v["state"] in _ENDED, _describe, json), json)


def status(
    submission: Annotated[str | None, typer.Argument(help="One submission's id.")] = None,
    json: Json = False,
) -> int:
    """Your submissions, or one with its findings and its replay."""
    arena = client()
    if submission:
        found = arena.get(address("submissions", submission))["submission"]
        return _print(found, json, failed=False)
    me = arena.get("/whoami")["user"]
    answer = arena.get("/submissions", by=me, limit=200)
    if json:
        print_json(answer)
        return 0
    table(
        ["submission", "state", "~title", ">packages", ">proven", ">runs", "~source"],
        [
            [
                s["id"],
                _state(s),
                s["title"],
                str(s["packages"]),
                _proven(s["replay"]),
                str(len(s["runs"])),
                s["source"],
            ]
            for s in answer["submissions"]
        ],
        empty="You have entered nothing yet: arena submit SOURCE --title T",
    )
    note_more(answer)
    return 0


def _state(s: Submission) -> Text:
    """A state; of what waits, until when."""
    if not s["waiting_until"]:
        return state(s["state"])
    return state(s["state"]).append(f" {_until(s)}")


def _describe(s: Submission) -> str:
    return f"{s['id']}: {s['state']}" + (f" {waits}" if (waits := _waits(s)) else "")


def _waits(s: Submission) -> str | None:
    """Until when a check waits, and for what."""
    if not s["waiting_until"]:
        return None
    return f"{_until(s)}: {s['waits_for']}"


def _until(s: Submission) -> str:
    return (
        f"until {datetime.fromisoformat(s['waiting_until']).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    )


def _error(s: Submission, mend: str) -> dict[str, str]:
    """What a check ended with as an error; `mend`: what to do where the collection is at fault."""
    failed = "Nothing is known against the collection: try again once its source can be read."
    return {
        "code": s["code"] or s["state"],
        "message": s["reason"] or f"{len(s['findings'])} findings",
        "next": failed if s["state"] == "failed" else mend,
    }


def _print_validation(v: Submission, json: bool) -> int:
    bad = v["state"] != "valid"
    if json:
        error = _error(v, "Mend what the findings name, push a new commit, validate that.")
        print_json({"ok": not bad} | ({"error": error} if bad else {}) | {"validation": v})
        return int(bad)
    _print_check("validation", v, [])
    if not bad:
        note("Nothing was entered. Next: arena submit SOURCE --title T --wait")
    return int(bad)


def _print_check(what: str, s: Submission, more: list[tuple[str, str | Text | None]]) -> None:
    """A check's facts with those of `what` it is of, then its findings."""
    facts(
        [
            (what, s["id"]),
            ("state", state(s["state"])),
            ("waits", _waits(s)),
            ("source", s["source"]),
            ("packages", str(s["packages"]) if s["packages"] else None),
            ("collection", s["collection"]),
            ("reason", s["reason"]),
            ("near copies", s["near_copies"] and f"looked for by {s['near_copies']}"),
            *more,
        ]
    )
    if s["copies"]:
        out.print()
        print_copies(s["copies"])
    if s["twins"]:
        out.print()
        print_twins(s["twins"])
    if s["findings"]:
        out.print()
        print_findings(s["findings"])


def withdraw(
    submission: Annotated[str, typer.Argument(help="Your submission's id.")],
    reason: Reason,
    json: Json = False,
) -> int:
    """Take a submission out: it stays on record, and neither runs nor ranks any more."""
    path = address("submissions", f"{submission}:withdraw")
    return _print(client(json).post(path, {"reason": reason})["submission"], json, failed=False)


def settle(
    submission: Annotated[str, typer.Argument(help="The submission's id.")],
    author: Annotated[str, typer.Option("--author", help="Whose it is: a Hub user.")],
    reason: Reason,
    json: Json = False,
) -> int:
    """Settle a claim: the author's rights over it and its content go to one user."""
    body = {"author": author, "reason": reason}
    path = address("submissions", f"{submission}:claim")
    return _print(client(json).post(path, body)["submission"], json, failed=False)


def _claims() -> None:
    """Settle whose a submission is (editors)."""


def _proven(replay: dict[str, Any] | None) -> str:
    """How many oracles are proven, once it is known."""
    return str(replay["proven"]) if replay and replay["state"] == "done" else "-"


def _print(s: Submission, json: bool, failed: bool = True) -> int:
    bad = s["state"] in {"invalid", "failed"} and failed
    if json:
        mend = f"Mend what `arena status {s['id']}` lists, push a new commit, submit it."
        error = _error(s, mend)
        print_json({"ok": not bad} | ({"error": error} if bad else {}) | {"submission": s})
        return int(bad)
    more = [
        ("title", s["title"]),
        ("author", s["author"]),
        ("withdrawn", s["withdrawal"] and _decided(s["withdrawal"])),
        *(("claim", f"settled for {c['author']} {_decided(c)}") for c in s["claims"]),
        ("replay", s["replay"] and outcome(s["replay"])),
        ("runs", ", ".join(s["runs"]) or None),
    ]
    _print_check("submission", s, more)
    if s["replay"] and s["replay"]["packages"]:
        out.print()
        _print_replay(s["replay"]["packages"])
    if s["state"] == "valid" and not s["runs"]:
        note(f"Next: arena run launch {s['id']} --challenge demo --wait")
    return int(bad)


def _decided(by: dict[str, Any]) -> str:
    return f"by {by['by']}, {by['at'][:16].replace('T', ' ')} UTC: {by['reason']}"


def _print_replay(packages: list[dict[str, Any]]) -> None:
    """Each package's verdict, then what there is to read about those that are not proven."""
    table(
        ["~package", ">oracle", ">untouched", "verdict", ">seconds"],
        [
            [
                row["name"],
                rewards([row["oracle"]]),
                rewards([row["untouched"]]),
                verdict(row["verdict"]),
                f"{row['seconds']:.1f}",
            ]
            for row in packages
        ],
        empty="No packages.",
    )
    for row in packages:
        if row["verdict"] != "proven":
            said = [(said["who"], said["text"]) for said in row["said"]]
            print_reason(row["name"], row["reason"], said)
    if any(row["verdict"] != "proven" for row in packages):
        note("A run's gate would leave out what is not proven.")
