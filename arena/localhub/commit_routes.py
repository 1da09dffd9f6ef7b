"""Writing: what the client asks before a commit, and the commit."""

import base64
import binascii
from typing import Annotated, Any, Literal

import yaml
from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from arena.localhub import errors, lfs
from arena.localhub.card import parse_card
from arena.localhub.changes import Changes, check_path
from arena.localhub.dependencies import BaseUrl, Body, Revision, SignedIn, WritableRepo
from arena.localhub.repository import Message

router = APIRouter()
_REPO = "/api/{plural}/{owner}/{name}"
_MAX_FILE_BYTES = 64 * 2**20
_MAX_LFS_BYTES = 2 * 2**30
_NO_NUL = r"^[^\x00]*$"  # git refuses it in a message


class CardText(BaseModel):
    content: str


class UploadedFile(BaseModel):
    path: str
    size: Annotated[int, Field(ge=0)]


class Upload(BaseModel):
    files: list[UploadedFile]


class Header(BaseModel):
    summary: Annotated[str, Field(min_length=1, max_length=10_000, pattern=_NO_NUL)]
    description: Annotated[str, Field(max_length=100_000, pattern=_NO_NUL)] = ""
    parent_commit: Annotated[
        str | None, Field(alias="parentCommit", pattern="^[0-9a-f]{7,40}$")
    ] = None


class HeaderLine(BaseModel):
    key: Literal["header"]
    value: Header


class File(BaseModel):
    path: str
    content: str
    encoding: Literal["base64"] = "base64"


class FileLine(BaseModel):
    key: Literal["file"]
    value: File


class LargeFile(BaseModel):
    path: str
    oid: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    size: Annotated[int, Field(ge=0)]


class LargeFileLine(BaseModel):
    key: Literal["lfsFile"]
    value: LargeFile


class Deleted(BaseModel):
    path: str


class DeletedLine(BaseModel):
    key: Literal["deletedFile", "deletedFolder"]
    value: Deleted


_HEADER_LINE = TypeAdapter(HeaderLine)
_OPERATION_LINE: TypeAdapter[FileLine | LargeFileLine | DeletedLine] = TypeAdapter(
    Annotated[FileLine | LargeFileLine | DeletedLine, Field(discriminator="key")]
)


@router.post("/api/validate-yaml")
def validate_yaml(body: CardText) -> JSONResponse:
    try:
        parse_card(body.content)
    except yaml.YAMLError as error:
        return JSONResponse({"errors": [{"message": str(error)}], "warnings": []}, 400)
    return JSONResponse({"errors": [], "warnings": []})


@router.post(_REPO + "/preupload/{revision}")
def preupload(repo: WritableRepo, revision: Revision, body: Upload) -> dict[str, Any]:
    """How each file is to be sent, and which content the repository has at its path."""
    entries = repo.snapshot(revision).entries
    answers = []
    for file in body.files:
        check_path(file.path)
        _check_size(file.path, file.size, _MAX_LFS_BYTES)
        mode = "lfs" if file.size > lfs.THRESHOLD else "regular"
        answer = {"path": file.path, "uploadMode": mode, "shouldIgnore": False}
        entry = entries.get(file.path)
        answers.append(answer | ({"oid": entry.oid} if entry and entry.is_file else {}))
    return {"files": answers}


@router.post(_REPO + "/commit/{revision}")
def commit(
    repo: WritableRepo,
    revision: Revision,
    caller: SignedIn,
    base_url: BaseUrl,
    body: Body,
    create_pr: Annotated[bool, Query()] = False,
) -> dict[str, Any]:
    if create_pr:
        raise errors.bad_request("The local hub has no pull requests: commit to a branch.")
    header, changes = _parse_commit(body)
    changes.check_paths()
    message = Message(caller.user, header.summary, header.description)
    made = repo.commit(revision, changes, message, header.parent_commit)
    url = f"{base_url}{repo.meta.path}/commit/{made.sha}"
    return {"success": True, "commitOid": made.sha, "commitUrl": url, "hookOutput": ""}


def _parse_commit(body: bytes) -> tuple[Header, Changes]:
    lines = [line for line in body.split(b"\n") if line.strip()]
    if not lines:
        raise errors.bad_request("A commit starts with its header line.")
    try:
        header = _HEADER_LINE.validate_json(lines[0]).value
        operations = [_OPERATION_LINE.validate_json(line) for line in lines[1:]]
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        raise errors.bad_request(f"Invalid commit: {first['msg']}") from error
    files: dict[str, bytes] = {}
    large_files: dict[str, lfs.Pointer] = {}
    deleted: dict[str, list[str]] = {"deletedFile": [], "deletedFolder": []}
    for operation in operations:
        if isinstance(operation, FileLine):
            files[operation.value.path] = _decode(operation.value)
        elif isinstance(operation, LargeFileLine):
            large = operation.value
            large_files[large.path] = lfs.Pointer(large.oid, large.size)
        else:
            deleted[operation.key].append(operation.value.path.rstrip("/"))
    changes = Changes(
        files, large_files, tuple(deleted["deletedFile"]), tuple(deleted["deletedFolder"])
    )
    return header, changes


def _decode(file: File) -> bytes:
    try:
        content = base64.b64decode(file.content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise errors.bad_request(f"The content of {file.path[:200]!r} is not base64.") from error
    _check_size(file.path, len(content))
    return content


def _check_size(path: str, size: int, limit: int = _MAX_FILE_BYTES) -> None:
    if size > limit:
        raise errors.HubError(413, f"{path[:200]!r} is over {limit >> 20} MB.")
