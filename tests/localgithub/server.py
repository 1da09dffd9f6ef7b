"""The API at one address and the archives at another, as GitHub has them; limits in the headers."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from tests.localgithub.repositories import GitRepository

_HOUR = 3600


class Asked(NamedTuple):
    """A request that arrived."""

    site: str
    path: str
    authorization: str | None


class LocalGitHub:
    """Two servers, and what a test may set: limits, and repositories in every condition."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.repositories: dict[str, GitRepository] = {}
        self._renamed: dict[str, GitRepository] = {}
        self.asked: list[Asked] = []
        self.remaining = 5000
        self.reset_at = time.time() + _HOUR
        self.refusal: Response | None = None
        self.archives_refuse: Response | None = None
        self._api, self.url = _serve(self._answer_api)
        self._archives, self._archive_url = _serve(self._answer_archive)

    def create(self, name: str, files: dict[str, str] | None = None) -> GitRepository:
        """A new public repository, with one commit where there are files."""
        number = len(self.repositories) + 1
        made = GitRepository.create(name, self._folder / str(number), number)
        self.repositories[name.lower()] = made
        if files:
            made.commit(files)
        return made

    def rename(self, old: str, new: str) -> None:
        """The old name leads to the new one from now on."""
        moved = self.repositories.pop(old.lower())
        moved.name = new
        self.repositories[new.lower()] = self._renamed[old.lower()] = moved

    def delete(self, name: str) -> None:
        del self.repositories[name.lower()]

    def use_up(self, seconds: float) -> None:
        """The hourly limit is used up, for so long."""
        self.remaining, self.reset_at = 0, time.time() + seconds

    def paths(self, site: str = "api") -> list[str]:
        """What was asked of a site since the list was cleared last."""
        return [asked.path for asked in self.asked if asked.site == site]

    def close(self) -> None:
        for server, thread in (self._api, self._archives):
            server.should_exit = True
            thread.join()

    # The API

    def _answer_api(self, request: Request) -> Response:
        self.asked.append(Asked("api", request.url.path, request.headers.get("authorization")))
        if self.refusal is not None:
            return self.refusal
        if time.time() >= self.reset_at:
            self.remaining, self.reset_at = 5000, time.time() + _HOUR
        if self.remaining <= 0:
            answer: Response = JSONResponse(
                {"message": "API rate limit exceeded for 127.0.0.1."}, 403
            )
        else:
            self.remaining -= 1
            answer = self._route(request)
        answer.headers["X-RateLimit-Limit"] = "5000"
        answer.headers["X-RateLimit-Remaining"] = str(self.remaining)
        answer.headers["X-RateLimit-Reset"] = str(int(self.reset_at))
        return answer

    def _route(self, request: Request) -> Response:
        match = re.fullmatch(
            r"/(?:repos/([^/]+/[^/]+)|repositories/(\d+))(?:/(.*))?", request.url.path
        )
        if not match:
            return _not_found()
        name, number, rest = match[1], match[2], match[3] or ""
        if name and (moved := self._renamed.get(name.lower())):
            place = f"{self.url}/repositories/{moved.number}/{rest}".rstrip("/")
            return RedirectResponse(f"{place}?{request.url.query}", 301)
        found = self._by_number(int(number)) if number else self.repositories.get(name.lower())
        token = request.headers.get("authorization")
        if found is None or (found.private and not token):
            return _not_found()
        if found.blocked:
            message = {"message": "Repository access blocked", "block": {"reason": "tos"}}
            return JSONResponse(message, 403)
        return self._of_repository(found, unquote(rest), request)

    def _by_number(self, number: int) -> GitRepository | None:
        return next((r for r in self.repositories.values() if r.number == number), None)

    def _of_repository(self, found: GitRepository, rest: str, request: Request) -> Response:
        if not rest:
            return JSONResponse(
                {
                    "id": found.number,
                    "full_name": found.name,
                    "private": found.private,
                    "disabled": found.disabled,
                    "default_branch": "main",
                }
            )
        kind, _, subject = rest.partition("/")
        if kind == "compare":
            base, _, head = subject.partition("...")
            return JSONResponse({"status": found.compare(found.find(base) or "", head)})
        if kind == "contents":
            content = found.show(request.query_params["ref"], subject)
            return _not_found() if content is None else Response(content)
        revision = subject.removesuffix("/branches-where-head")
        commit = found.find(revision)
        if commit is None:
            return JSONResponse({"message": f"No commit found for SHA: {revision}"}, 422)
        if kind == "tarball":
            return RedirectResponse(f"{self._archive_url}/{found.name}/legacy.tar.gz/{commit}", 302)
        if revision != subject:
            return JSONResponse([{"name": name} for name in found.heads_at(commit)])
        return JSONResponse({"sha": commit})

    # The archives

    def _answer_archive(self, request: Request) -> Response:
        path = request.url.path
        self.asked.append(Asked("archives", path, request.headers.get("authorization")))
        if self.archives_refuse is not None:
            return self.archives_refuse
        name, _, commit = path.strip("/").partition("/legacy.tar.gz/")
        content = self.repositories[name.lower()].tarball(commit)
        return Response(content, media_type="application/x-gzip")


def _not_found() -> Response:
    return JSONResponse({"message": "Not Found"}, 404)


def _serve(answer: Callable[[Request], Response]) -> tuple[tuple[Any, threading.Thread], str]:
    """A server in a thread, and its address."""
    app = FastAPI()

    @app.get("/{path:path}")
    def every(request: Request) -> Response:
        return answer(request)

    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    return (server, thread), f"http://127.0.0.1:{port}"
