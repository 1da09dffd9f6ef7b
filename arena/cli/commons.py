"""`arena commons list|pull`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.connection import Json, client
from arena.cli.output import note, print_json, table
from arena.errors import HubUnavailable

app = typer.Typer(help="Everything accepted, openly.")


def register(parent: typer.Typer) -> None:
    """Adds `arena commons`."""
    parent.add_typer(app, name="commons")


@app.command("list")
def list_collections(json: Json = False) -> None:
    """The released collections."""
    answer = client().get_all("/commons", "collections")
    if json:
        print_json(answer)
        return
    table(
        ["collection", "~title", "author", ">packages", "folder"],
        [
            [c["collection"][:12], c["title"], c["author"], str(len(c["packages"])), c["folder"]]
            for c in answer["collections"]
        ],
        empty="Nothing is released yet: accepted collections appear here.",
    )


@app.command()
def pull(
    folder: Annotated[Path, typer.Argument(help="Where the packages are written.")],
    json: Json = False,
) -> None:
    """Download every released collection."""
    import httpx
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    released = client().get_all("/commons", "collections")["collections"]
    for repo in {c["repo"] for c in released}:
        try:
            snapshot_download(repo, repo_type="dataset", local_dir=folder, token=False)
        except (HfHubHTTPError, httpx.HTTPError, OSError) as exc:
            raise HubUnavailable(problem=type(exc).__name__) from exc
    if json:
        print_json({"ok": True, "folder": str(folder), "collections": len(released)})
    else:
        note(f"{len(released)} collections in {folder}")
