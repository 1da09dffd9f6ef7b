"""`arena new`: a package from the template, with what is known filled in."""

from __future__ import annotations

import json as jsonlib
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.connection import Json
from arena.cli.convert import parse_domain
from arena.cli.output import note, out, print_json, table
from arena.errors import ArenaError
from arena.packages.rules.files import SLUG

if TYPE_CHECKING:
    from arena.packages.schema import Domain

TEMPLATE = Path(__file__).resolve().parents[2] / "starting-kit" / "template"
MARKER = "REPLACE-ME"
HUB_SECONDS = 4.0
_USER = re.compile(r"[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_NO_AUTHOR = "author_hub stays {marker}: {why}. Write your Hub user name there, or give --author."


class NotMade(ArenaError):
    code, status = "not_made", 409
    text = "{place} was not made: {problem}."
    advice = "{following}"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("new")(new)


def new(
    name: Annotated[str, typer.Argument(help="The package's name: a-z, 0-9 and '-'.")],
    domain: Annotated[
        str | None, typer.Option("--domain", help="One of the eight domains, or a word for one.")
    ] = None,
    author: Annotated[
        str | None, typer.Option("--author", help="Your Hub user name; else your token's is asked.")
    ] = None,
    into: Annotated[Path, typer.Option("--into", help="The folder it is made in.")] = Path(),
    json: Json = False,
) -> None:
    """Make a task package from the template, and list what is to be filled in."""
    if not SLUG.fullmatch(name):
        raise typer.BadParameter(
            f"{name!r} is no name of a package: use a-z, 0-9 and '-', at most 64 characters, "
            "no '-' at either end"
        )
    if author is not None and not _USER.fullmatch(author):
        raise typer.BadParameter(f"{author!r} is no Hub user name")
    wanted = parse_domain(domain)
    folder = into / name
    if os.path.lexists(folder):
        raise _not_made(folder, "it exists already", "Choose another name; nothing was changed.")
    why = ""
    if author is None:
        author, why = _hub_user()
    _make(folder, author, wanted)
    command = f"arena check {shlex.quote(str(folder))}"
    to_fill = placeholders(folder)
    if json:
        package = {"path": str(folder), "name": name, "author": author, "domain": wanted}
        print_json({"ok": True, "package": package, "to_fill": to_fill, "next": command})
        return
    out.print(f"Made {folder}. What is to be filled in:")
    rows = [[f"{item['file']}:{item['line']}", item["text"]] for item in to_fill]
    table(["where", "~what stands there"], rows, empty="Nothing: every part is filled in.")
    if why:
        note(_NO_AUTHOR.format(marker=MARKER, why=why))
    note(f"Next: {command}")


def placeholders(folder: Path) -> list[dict[str, Any]]:
    """Every line of the package that holds the template's marker."""
    return [
        {"file": path.relative_to(folder).as_posix(), "line": number, "text": line.strip()}
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if MARKER in line
    ]


def _make(folder: Path, author: str | None, domain: Domain | None) -> None:
    """Copies the template beside its place, fills it in, and renames it: all of it or nothing."""
    if not (TEMPLATE / "task.md").is_file():
        following = "Run the command from a clone of the arena's repository."
        raise _not_made(folder, "the template is not installed with the command", following)
    made: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".arena-new-", dir=folder.parent))
        shutil.copytree(TEMPLATE, made, dirs_exist_ok=True)
        made.chmod(0o755)
        _fill(made / "task.md", "author_hub", author)
        _fill(made / "task.md", "category", domain)
        _fill(made / "verifier" / "verifier.md", "name", folder.name)
        made.rename(folder)
        made = None
    except OSError as exc:
        problem = exc.strerror or type(exc).__name__
        raise _not_made(folder, problem, "Give --into a folder you can write to.") from exc
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def _fill(path: Path, key: str, value: str | None) -> None:
    """Puts a value in the place of the marker at `key`; None leaves it."""
    if value is None:
        return
    text = path.read_text(encoding="utf-8")
    filled = text.replace(f"{key}: {MARKER}", f"{key}: {_scalar(str(value))}", 1)
    path.write_text(filled, encoding="utf-8", newline="\n")


def _scalar(value: str) -> str:
    """A text as YAML: quoted where it would be read as a number, a date or a truth."""
    from arena.packages.yamltext import load_yaml

    return value if load_yaml(value).data == value else jsonlib.dumps(value)


def _hub_user() -> tuple[str | None, str]:
    """The Hub user of the token; where there is none to be had, why."""
    import httpx
    from huggingface_hub import constants, get_token

    token = get_token()
    if not token:
        return None, "there is no token (HF_TOKEN, or the Hub's login)"
    try:
        headers = {"Authorization": f"Bearer {token}"}
        url = f"{constants.ENDPOINT}/api/whoami-v2"
        answer = httpx.get(url, headers=headers, timeout=HUB_SECONDS)
        user = answer.json().get("name") if answer.status_code == 200 else None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, AttributeError):
        return None, "the Hub does not answer"
    if not isinstance(user, str) or not _USER.fullmatch(user):
        return None, "the Hub does not know the token"
    return user, ""


def _not_made(folder: Path, problem: str, following: str) -> NotMade:
    return NotMade(place=repr(str(folder)), problem=problem, following=following)
