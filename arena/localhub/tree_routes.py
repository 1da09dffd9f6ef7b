"""What is in a repository: trees, paths, refs, history."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from arena.localhub import errors
from arena.localhub.changes import Entry
from arena.localhub.dependencies import BaseUrl, Repo, Revision, TargetDep, WritableRepo
from arena.localhub.repository import MAIN, LogEntry, Ref
from arena.localhub.times import iso

router = APIRouter()
_REPO = "/api/{plural}/{owner}/{name}"
_COMMITS_PER_PAGE = 50
_MAX_PATHS = 1000


class NewTag(BaseModel):
    tag: str


class NewBranch(BaseModel):
    starting_point: str = Field(MAIN, alias="startingPoint")


@router.get(_REPO + "/tree/{target:path}")
def tree(
    repo: Repo, target: TargetDep, recursive: Annotated[bool, Query()] = False
) -> JSONResponse:
    entries = repo.snapshot(target.revision).entries
    if target.path and (target.path not in entries or entries[target.path].is_file):
        raise errors.entry_not_found(f"{target.path} does not exist on {target.revision}")
    prefix = f"{target.path}/" if target.path else ""
    inside = (
        (path, entry)
        for path, entry in entries.items()
        if path.startswith(prefix) and (recursive or "/" not in path[len(prefix) :])
    )
    # Plain JSON: a listing of hundreds of files need not pass through FastAPI's encoder.
    return JSONResponse(_in_hub_order(inside))


@router.post(_REPO + "/paths-info/{revision}")
def paths_info(
    repo: Repo,
    revision: Revision,
    paths: Annotated[list[str], Form(max_length=_MAX_PATHS)],
) -> list[dict[str, Any]]:
    entries = repo.snapshot(revision).entries
    stripped = (path.strip("/") for path in paths)
    return [_describe(path, entries[path]) for path in stripped if path in entries]


@router.get(_REPO + "/commits/{revision}")
def commits(
    repo: Repo,
    revision: Revision,
    base_url: BaseUrl,
    page: Annotated[int, Query(alias="p", ge=0, le=10**6)] = 0,
) -> JSONResponse:
    head = repo.commit_at(revision)
    total = repo.count_commits(head.sha)
    skip = page * _COMMITS_PER_PAGE
    log = repo.log(head.sha, skip=skip, limit=_COMMITS_PER_PAGE)
    headers = {"X-Total-Count": str(total)}
    if skip + len(log) < total:
        # The next page starts from the same commit, whatever is committed meanwhile.
        path = f"/api/{repo.meta.type.plural}/{repo.meta.repo_id}/commits/{head.sha}"
        headers["Link"] = f'<{base_url}{path}?p={page + 1}>; rel="next"'
    return JSONResponse([_describe_commit(entry) for entry in log], headers=headers)


@router.get(_REPO + "/refs")
def refs(repo: Repo, include_prs: Annotated[bool, Query()] = False) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "branches": [_describe_ref(ref, "heads") for ref in repo.refs("heads")],
        "tags": [_describe_ref(ref, "tags") for ref in repo.refs("tags")],
        "converts": [],
    }
    return answer | ({"pullRequests": []} if include_prs else {})


@router.post(_REPO + "/tag/{revision}", status_code=HTTPStatus.CREATED)
def create_tag(repo: WritableRepo, revision: Revision, body: NewTag) -> dict[str, Any]:
    repo.create_ref("tags", body.tag, repo.commit_at(revision).sha)
    return {}


@router.delete(_REPO + "/tag/{revision}")
def delete_tag(repo: WritableRepo, revision: Revision) -> dict[str, Any]:
    repo.delete_ref("tags", revision)
    return {}


@router.post(_REPO + "/branch/{revision}", status_code=HTTPStatus.CREATED)
def create_branch(repo: WritableRepo, revision: Revision, body: NewBranch) -> dict[str, Any]:
    repo.create_ref("heads", revision, repo.commit_at(body.starting_point).sha)
    return {}


@router.delete(_REPO + "/branch/{revision}")
def delete_branch(repo: WritableRepo, revision: Revision) -> dict[str, Any]:
    if revision == MAIN:
        raise errors.forbidden("The main branch cannot be deleted.")
    repo.delete_ref("heads", revision)
    return {}


def _in_hub_order(entries: Iterable[tuple[str, Entry]]) -> list[dict[str, Any]]:
    """Folders before files, each by name."""
    ordered = sorted(entries, key=lambda item: (item[1].is_file, item[0]))
    return [_describe(path, entry) for path, entry in ordered]


def _describe(path: str, entry: Entry) -> dict[str, Any]:
    kind = "file" if entry.is_file else "directory"
    described = {"type": kind, "oid": entry.oid, "size": entry.size or 0, "path": path}
    if entry.lfs:
        described["lfs"] = {
            "oid": entry.lfs.oid,
            "size": entry.lfs.size,
            "pointerSize": len(entry.lfs.text()),
        }
    return described


def _describe_ref(ref: Ref, kind: str) -> dict[str, str]:
    return {"name": ref.name, "ref": f"refs/{kind}/{ref.name}", "targetCommit": ref.sha}


def _describe_commit(entry: LogEntry) -> dict[str, Any]:
    return {
        "id": entry.sha,
        "title": entry.title,
        "message": entry.message,
        "authors": [{"user": entry.author}],
        "date": iso(entry.at),
    }
