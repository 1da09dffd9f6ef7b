"""The bytes of files."""

import re
from collections.abc import Callable
from http import HTTPStatus

from fastapi import APIRouter, Request, Response

from arena.localhub import errors
from arena.localhub.dependencies import Caller, HubDep, TargetDep, require_files, visible_repo
from arena.localhub.metadata import RepoType
from arena.localhub.repository import Repository

router = APIRouter()
_ONE_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_SNIFFED = 8192


def _serve(repo: Repository, path: str, revision: str, request: Request) -> Response:
    commit, entries = repo.snapshot(revision)
    entry = entries.get(path)
    if entry is None or not entry.is_file:
        raise errors.entry_not_found(headers={"X-Repo-Commit": commit.sha})
    headers = {
        "X-Repo-Commit": commit.sha,
        "ETag": f'"{entry.lfs.oid if entry.lfs else entry.oid}"',
        "Accept-Ranges": "bytes",
        "X-Content-Type-Options": "nosniff",
    }
    if request.method == "HEAD":
        headers["Content-Length"] = str(entry.size)
        return Response(headers=headers, media_type="application/octet-stream")
    content = repo.read_file(entry)
    # Never HTML: a participant's file must not run as a page of this hub.
    binary = b"\0" in content[:_SNIFFED]
    media_type = "application/octet-stream" if binary else "text/plain; charset=utf-8"
    return _ranged(content, request.headers.get("range"), headers, media_type)


def _ranged(
    content: bytes, asked: str | None, headers: dict[str, str], media_type: str
) -> Response:
    """The content, or the one range of it that was asked for."""
    match = _ONE_RANGE.fullmatch(asked or "")
    if match is None or match[0] == "bytes=-":
        return Response(content, headers=headers, media_type=media_type)
    size = len(content)
    if match[1]:
        start, end = int(match[1]), min(int(match[2] or size), size - 1)
    else:
        start, end = max(size - int(match[2]), 0), size - 1
    if start > end:
        headers["Content-Range"] = f"bytes */{size}"
        return Response(status_code=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers=headers)
    headers["Content-Range"] = f"bytes {start}-{end}/{size}"
    part = content[start : end + 1]
    return Response(part, HTTPStatus.PARTIAL_CONTENT, headers, media_type)


def _resolver(type_: RepoType) -> Callable[..., Response]:
    def resolve(
        owner: str, name: str, target: TargetDep, hub: HubDep, caller: Caller, request: Request
    ) -> Response:
        repo = visible_repo(hub, caller, type_, f"{owner}/{name}")
        require_files(repo, caller)
        return _serve(repo, target.path, target.revision, request)

    return resolve


for _type in RepoType:
    router.add_api_route(
        f"{_type.url_prefix}/{{owner}}/{{name}}/resolve/{{target:path}}",
        _resolver(_type),
        methods=["GET", "HEAD"],
    )
