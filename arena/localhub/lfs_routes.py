"""Uploading large files: the batch question of git-lfs, and the objects."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from arena.localhub.dependencies import BaseUrl, Body, Caller, HubDep, require_write, visible_repo
from arena.localhub.lfs import Pointer
from arena.localhub.metadata import RepoType

router = APIRouter()
_MEDIA_TYPE = "application/vnd.git-lfs+json"


class Announced(BaseModel):
    oid: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    size: Annotated[int, Field(ge=0)]


class Batch(BaseModel):
    operation: Literal["upload"]
    objects: Annotated[list[Announced], Field(max_length=1000)]


@router.put("/lfs-upload/{ticket}")
def put_object(ticket: str, hub: HubDep, body: Body) -> Response:
    hub.uploads.redeem(ticket, body)
    return Response()


def _batch_of(type_: RepoType) -> Callable[..., JSONResponse]:
    def batch(
        owner: str, name: str, body: Batch, hub: HubDep, caller: Caller, base_url: BaseUrl
    ) -> JSONResponse:
        repo = visible_repo(hub, caller, type_, f"{owner}/{name}")
        require_write(repo, caller)
        answers: list[dict[str, Any]] = []
        for announced in body.objects:
            pointer = Pointer(announced.oid, announced.size)
            answer: dict[str, Any] = {"oid": pointer.oid, "size": pointer.size}
            if not repo.lfs.has(pointer):
                ticket = hub.uploads.issue(repo.lfs, pointer)
                answer["actions"] = {"upload": {"href": f"{base_url}/lfs-upload/{ticket}"}}
            answers.append(answer)
        content = {"transfer": "basic", "objects": answers}
        return JSONResponse(content, media_type=_MEDIA_TYPE)

    return batch


for _type in RepoType:
    router.add_api_route(
        f"{_type.url_prefix}/{{owner}}/{{name}}.git/info/lfs/objects/batch",
        _batch_of(_type),
        methods=["POST"],
    )
