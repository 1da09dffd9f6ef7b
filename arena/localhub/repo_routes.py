"""Repositories as a whole: creating, deleting, settings, information."""

from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from arena.localhub import access, errors
from arena.localhub.card import card_data
from arena.localhub.changes import Entry
from arena.localhub.dependencies import (
    BaseUrl,
    Caller,
    HubDep,
    Repo,
    Revision,
    WritableRepo,
    Writer,
    require_files,
    require_write,
    visible_repo,
)
from arena.localhub.metadata import Gated, RepoType
from arena.localhub.repository import MAIN, Repository, Snapshot
from arena.localhub.times import iso

router = APIRouter()
_REPO = "/api/{plural}/{owner}/{name}"

Visibility = Literal["public", "private"]


class RepoAddress(BaseModel):
    type: RepoType = RepoType.MODEL
    name: str
    organization: str | None = None

    def owner(self, caller: str) -> str:
        return self.organization or caller


class NewRepo(RepoAddress):
    private: bool = False
    visibility: Visibility | None = None

    @property
    def is_private(self) -> bool:
        return self.private if self.visibility is None else self.visibility == "private"


class Settings(BaseModel):
    private: bool | None = None
    visibility: Visibility | None = None
    gated: Gated | None = None


@router.post("/api/repos/create")
def create(body: NewRepo, hub: HubDep, caller: Writer, base_url: BaseUrl) -> JSONResponse:
    owner = body.owner(caller.user)
    if not access.may_create_in(caller.user, owner):
        raise errors.forbidden(f"You don't have the rights to create a repository under {owner!r}.")
    repo = hub.repositories.create(
        body.type, owner, body.name, creator=caller.user, private=body.is_private
    )
    if repo is None:
        url = f"{base_url}{body.type.url_prefix}/{owner}/{body.name}"
        error = f"You already created this {body.type} repo"
        return JSONResponse({"error": error, "url": url}, HTTPStatus.CONFLICT)
    meta = repo.meta
    return JSONResponse({"url": base_url + meta.path, "name": meta.repo_id, "id": meta.opaque_id})


@router.delete("/api/repos/delete")
def delete(body: RepoAddress, hub: HubDep, caller: Writer) -> dict[str, Any]:
    repo_id = f"{body.owner(caller.user)}/{body.name}"
    repo = visible_repo(hub, caller, body.type, repo_id)
    require_write(repo, caller)
    hub.repositories.delete(repo)
    return {}


@router.put(_REPO + "/settings")
def update_settings(body: Settings, repo: WritableRepo) -> dict[str, Any]:
    private = body.private if body.visibility is None else body.visibility == "private"
    changed: dict[str, Any] = {"private": private, "gated": body.gated}
    update = {key: value for key, value in changed.items() if value is not None}
    meta = repo.update_meta(update)
    return {"private": meta.private, "gated": meta.gated}


@router.get(_REPO + "/auth-check")
async def auth_check(repo: Repo, caller: Caller) -> dict[str, Any]:
    require_files(repo, caller)
    return {}


@router.get(_REPO + "/auth-check/write")
async def auth_check_write(_repo: WritableRepo) -> dict[str, Any]:
    return {}


@router.get(_REPO)
def info(repo: Repo, blobs: Annotated[bool, Query()] = False) -> dict[str, Any]:
    return _describe(repo, repo.snapshot(MAIN), blobs=blobs)


@router.get(_REPO + "/revision/{revision}")
def info_at(
    repo: Repo, revision: Revision, blobs: Annotated[bool, Query()] = False
) -> dict[str, Any]:
    return _describe(repo, repo.snapshot(revision), blobs=blobs)


@router.get("/api/{plural}/{name}")
async def without_owner(caller: Caller) -> None:
    """Every repository here has an owner: the client still asks for names such as `gpt2`."""
    raise errors.repo_not_found(signed_in=caller is not None)


def _blob_facts(entry: Entry) -> dict[str, Any]:
    facts: dict[str, Any] = {"size": entry.size, "blobId": entry.oid}
    if entry.lfs:
        size, pointer_size = entry.lfs.size, len(entry.lfs.text())
        facts["lfs"] = {"sha256": entry.lfs.oid, "size": size, "pointerSize": pointer_size}
    return facts


def _describe(repo: Repository, snapshot: Snapshot, *, blobs: bool) -> dict[str, Any]:
    meta, commit = repo.meta, snapshot.commit
    siblings: list[dict[str, Any]] = [
        {"rfilename": path, **(_blob_facts(entry) if blobs else {})}
        for path, entry in snapshot.entries.items()
        if entry.is_file
    ]
    return {
        "_id": meta.opaque_id,
        "id": meta.repo_id,
        "author": meta.owner,
        "sha": commit.sha,
        "private": meta.private,
        "gated": meta.gated,
        "disabled": False,
        "createdAt": iso(meta.created_at),
        "lastModified": iso(commit.at),
        "tags": [],
        "downloads": 0,
        "likes": 0,
        "cardData": card_data(repo, snapshot),
        "siblings": siblings,
    }
