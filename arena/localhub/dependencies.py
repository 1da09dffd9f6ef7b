"""What the routes ask of a request: the hub, the caller, the repository, the revision."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple, cast
from urllib.parse import unquote

from fastapi import Depends, Header, Request
from starlette.requests import ClientDisconnect

from arena.localhub import access, errors
from arena.localhub.accounts import Identity
from arena.localhub.lfs import UploadTickets
from arena.localhub.metadata import RepoType
from arena.localhub.repos import Repositories
from arena.localhub.repository import Repository
from arena.localhub.signin import SignIn
from arena.localhub.tokens import Tokens

_TYPES = {type_.plural: type_ for type_ in RepoType}


@dataclass(frozen=True)
class Hub:
    repositories: Repositories
    tokens: Tokens
    sign_in: SignIn
    uploads: UploadTickets


class Target(NamedTuple):
    """A place in a repository, as an address names it."""

    revision: str
    path: str


async def _hub(request: Request) -> Hub:
    return cast(Hub, request.app.state.hub)


HubDep = Annotated[Hub, Depends(_hub)]


async def _base_url(request: Request) -> str:
    return str(request.base_url).rstrip("/")


BaseUrl = Annotated[str, Depends(_base_url)]


async def _body(request: Request) -> bytes:
    try:
        return await request.body()
    except ClientDisconnect as error:  # it has hung up: nothing of what it began is done
        raise errors.bad_request("The upload broke off.") from error


Body = Annotated[bytes, Depends(_body)]


async def _caller(
    hub: HubDep, authorization: Annotated[str | None, Header()] = None
) -> Identity | None:
    if not authorization:
        return None
    scheme, _, token = authorization.partition(" ")
    identity = hub.tokens.identify(token.strip()) if scheme.lower() == "bearer" else None
    if identity is None:
        raise errors.invalid_credentials()
    return identity


Caller = Annotated[Identity | None, Depends(_caller)]


async def _signed_in(caller: Caller) -> Identity:
    if caller is None:
        raise errors.sign_in_required()
    return caller


SignedIn = Annotated[Identity, Depends(_signed_in)]


def _require_write_token(caller: Identity | None) -> Identity:
    if caller is None:
        raise errors.sign_in_required()
    if not caller.can_write:
        raise errors.forbidden("This token may only read: use one with the write role.")
    return caller


async def _writer(caller: Caller) -> Identity:
    return _require_write_token(caller)


Writer = Annotated[Identity, Depends(_writer)]


def visible_repo(hub: Hub, caller: Identity | None, type_: RepoType, repo_id: str) -> Repository:
    repo = hub.repositories.find(type_, repo_id)
    if repo is None or not access.may_see(caller, repo.meta):
        raise errors.repo_not_found(signed_in=caller is not None)
    return repo


def require_write(repo: Repository, caller: Identity | None) -> None:
    user = _require_write_token(caller).user
    if not access.has_write_rights(user, repo.meta):
        raise errors.forbidden(f"You don't have the rights to write to {repo.meta.repo_id}.")


def require_files(repo: Repository, caller: Identity | None) -> None:
    if not access.may_read_files(caller, repo.meta):
        raise errors.gated(repo.meta.repo_id, signed_in=caller is not None)


async def _api_repo(hub: HubDep, caller: Caller, plural: str, owner: str, name: str) -> Repository:
    type_ = _TYPES.get(plural)
    if type_ is None:
        raise errors.repo_not_found(signed_in=caller is not None)
    return visible_repo(hub, caller, type_, f"{owner}/{name}")


Repo = Annotated[Repository, Depends(_api_repo)]


async def _writable_repo(repo: Repo, caller: Caller) -> Repository:
    require_write(repo, caller)
    return repo


WritableRepo = Annotated[Repository, Depends(_writable_repo)]


async def _revision(revision: str) -> str:
    return unquote(revision)


Revision = Annotated[str, Depends(_revision)]


async def _target(target: str) -> Target:
    """`REVISION/PATH` as sent. The client quotes slashes in a revision; people write refs/x/y."""
    segments = target.split("/")
    length = 3 if segments[0] == "refs" and len(segments) >= 3 else 1
    revision, path = "/".join(segments[:length]), "/".join(segments[length:])
    return Target(unquote(revision), unquote(path).strip("/"))


TargetDep = Annotated[Target, Depends(_target)]
