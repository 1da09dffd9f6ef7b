"""A few pages for people, so that links from the product lead somewhere."""

from hashlib import sha256
from html import escape
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from arena.localhub import errors
from arena.localhub.accounts import ACCOUNTS, ORGANIZATIONS, Account, Organization
from arena.localhub.dependencies import Hub, HubDep, TargetDep, visible_repo
from arena.localhub.metadata import RepoMeta, RepoType
from arena.localhub.repository import MAIN
from arena.localhub.templates import render

router = APIRouter()


async def _profile(owner: str) -> Account | Organization:
    profile = ACCOUNTS.get(owner) or ORGANIZATIONS.get(owner)
    if profile is None:
        raise errors.HubError(404, "No such page.")
    return profile


Profile = Annotated[Account | Organization, Depends(_profile)]


@router.get("/_local/health")
async def health() -> dict[str, bool]:
    return {"ok": True}


@router.get("/")
def index(hub: HubDep) -> HTMLResponse:
    people = [*ACCOUNTS.values(), *ORGANIZATIONS.values()]
    return render("index.html", title="Local hub", people=people, repositories=_public(hub))


@router.get("/avatars/{owner}.svg")
async def avatar(profile: Profile) -> Response:
    hue = int(sha256(profile.name.encode()).hexdigest()[:4], 16) % 360
    initials = escape("".join(word[0] for word in profile.fullname.split()[:2]))
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">'
        f'<rect width="64" height="64" fill="hsl({hue} 55% 40%)"/>'
        '<text x="32" y="42" font-family="system-ui, sans-serif" font-size="28" fill="white"'
        f' text-anchor="middle">{initials}</text></svg>'
    )
    return Response(svg, media_type="image/svg+xml")


@router.get("/{owner}")
def profile_page(hub: HubDep, profile: Profile) -> HTMLResponse:
    owned = [repo for repo in _public(hub) if repo.owner == profile.name]
    return render("index.html", title=profile.fullname, people=[], repositories=owned)


def _public(hub: Hub) -> list[RepoMeta]:
    return [repo.meta for repo in hub.repositories.all() if not repo.meta.private]


def _files_page(hub: Hub, type_: RepoType, repo_id: str, revision: str) -> HTMLResponse:
    """Pages know no caller: what is not public is not found."""
    repo = visible_repo(hub, None, type_, repo_id)
    snapshot = repo.snapshot(revision)
    files = [(path, entry.size) for path, entry in snapshot.entries.items() if entry.is_file]
    return render("repository.html", repo=repo.meta, commit=snapshot.commit, files=files)


def _add_pages(type_: RepoType) -> None:
    """Main, a revision or commit, and a file: the addresses that huggingface.co has."""
    base = f"{type_.url_prefix}/{{owner}}/{{name}}"

    @router.get(base)
    def main(hub: HubDep, owner: str, name: str) -> HTMLResponse:
        return _files_page(hub, type_, f"{owner}/{name}", MAIN)

    @router.get(base + "/tree/{target:path}")
    @router.get(base + "/commit/{target:path}")
    def revision(hub: HubDep, owner: str, name: str, target: TargetDep) -> HTMLResponse:
        return _files_page(hub, type_, f"{owner}/{name}", target.revision)

    @router.get(base + "/blob/{target:path}")
    def file(hub: HubDep, owner: str, name: str, target: TargetDep) -> RedirectResponse:
        repo = visible_repo(hub, None, type_, f"{owner}/{name}")
        place = f"{quote(target.revision, safe='')}/{quote(target.path)}"
        return RedirectResponse(f"{repo.meta.path}/resolve/{place}")


for _type in (RepoType.DATASET, RepoType.SPACE, RepoType.MODEL):
    _add_pages(_type)
