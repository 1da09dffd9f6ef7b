"""Public repositories of GitHub: its REST API for what is where, one archive for the content.

GitHub counts the arena's requests by the hour, for all authors together. What an answer's headers
say of that is remembered, and while nothing is left nothing is asked.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx

from arena.errors import (
    ArenaError,
    GitHubUnavailable,
    RevisionNotFound,
    SourceDisabled,
    SourceLimited,
    SourceMoved,
    SourceNotFound,
    SubpathNotFound,
)
from arena.sources.address import PinnedSource, Source
from arena.sources.archive import BrokenArchive, read_archive
from arena.sources.cache import FileCache
from arena.sources.limits import MAX_SMALL_BYTES
from arena.waiting import asked_to_wait, in_seconds

_SITE = "GitHub"
_KIND = "GitHub repository"
_TIMEOUT = httpx.Timeout(30)
_MAX_ANSWER_BYTES = 4 * 1024 * 1024
_UNSAID_SECONDS = 60.0
"""How long GitHub asks to wait where a refusal for too many requests names no time."""
_JSON, _RAW = "application/vnd.github+json", "application/vnd.github.raw+json"


class _File(NamedTuple):
    path: str
    digest: str


class _Answer(NamedTuple):
    status: int
    headers: httpx.Headers
    content: bytes

    def json(self) -> Any:
        try:
            return httpx.Response(200, content=self.content).json()
        except ValueError as exc:
            raise GitHubUnavailable(problem="its answer is no JSON") from exc


class GitHubSource:
    """Reads public repositories: a SourceReader.

    The token only raises the limit. It goes to the API's own address: httpx takes it off where a
    redirect leads elsewhere, as that to the archive does.
    """

    def __init__(self, endpoint: str, cache: FileCache, token: str | None = None) -> None:
        headers = {
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "posttrain-arena",
            "Accept-Encoding": "identity",  # what arrives is counted, so it is not to swell
        }
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(
            base_url=endpoint, headers=headers, timeout=_TIMEOUT, follow_redirects=True
        )
        self._cache = cache
        self._used_up_until: datetime | None = None
        self._lock = threading.Lock()

    def resolve(self, source: Source) -> PinnedSource:
        """The commit that the source's revision means now; see SourceReader."""
        self._require_public(source)
        answer = self._get(source, f"commits/{quote(source.revision, safe='/')}")
        if answer.status in {404, 409, 422}:  # 409: the repository is empty
            raise RevisionNotFound(repo=source.repo, revision=source.revision)
        commit = str(self._object(answer).get("sha"))
        if not re.fullmatch(r"[0-9a-f]{40,64}", commit):
            raise GitHubUnavailable(problem="its answer names no commit")
        return PinnedSource(source, commit)

    def read_small(self, pinned: PinnedSource, name: str) -> str | None:
        """One small text file of the collection's folder; None where it is not there."""
        path = f"{pinned.source.subpath}/{name}".lstrip("/")
        answer = self._get(
            pinned.source, f"contents/{quote(path)}", accept=_RAW, params={"ref": pinned.commit}
        )
        if answer.status == 404 or len(answer.content) > MAX_SMALL_BYTES:
            return None
        self._require_ok(answer)
        return answer.content.decode("utf-8", "replace")

    def is_on_main(self, pinned: PinnedSource) -> bool:
        """Whether the commit is a branch's head or in the default branch's history.

        A commit of a fork or of a pull request can be named as well, and anybody can make one.
        """
        source = pinned.source
        heads = self._get(source, f"commits/{pinned.commit}/branches-where-head")
        if heads.status != 404 and self._list(heads):
            return True
        default = quote(self._require_public(source), safe="/")
        compared = self._get(
            source, f"compare/{default}...{pinned.commit}", params={"per_page": "1"}
        )
        if compared.status == 404:
            return False
        return self._object(compared).get("status") in {"identical", "behind"}

    def fetch(self, pinned: PinnedSource, destination: Path) -> None:
        """Writes the collection's files below `destination`; see SourceReader.

        One archive for all of it, whose files are kept. No file is executable, since none is that
        comes from the Hub: the same content is the same collection, wherever it stands.
        """
        kept = self._cache.listing(pinned)
        files = [_File(*row) for row in kept] if kept is not None else []
        if kept is None or not all(self._cache.holds(file.digest) for file in files):
            files = self._download(pinned)
        for file in files:
            content = self._cache.content(file.digest)
            if content is None:
                raise GitHubUnavailable(problem="a file that was kept is gone")
            target = destination / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def _download(self, pinned: PinnedSource) -> list[_File]:
        """Keeps every file of the collection, then the list of them."""
        source, files = pinned.source, []
        with self._stream(source, f"tarball/{pinned.commit}") as answer:
            if answer.status_code in {404, 422}:
                self._require_public(source)  # which of the two is gone?
                raise RevisionNotFound(repo=source.repo, revision=pinned.commit)
            self._require_ok(_Answer(answer.status_code, answer.headers, b""))
            try:
                for file in read_archive(answer.iter_raw(), source.subpath):
                    self._cache.keep(file.digest, file.content)
                    files.append(_File(file.path, file.digest))
            except BrokenArchive as exc:
                raise GitHubUnavailable(problem=f"an archive arrived that is none: {exc}") from exc
        if not files and source.subpath:
            raise SubpathNotFound(repo=source.repo, subpath=source.subpath, revision=pinned.commit)
        self._cache.keep_listing(pinned, files)
        return files

    def _require_public(self, source: Source) -> str:
        """The default branch; raises where not everybody can read it, at this address."""
        answer = self._get(source)
        if answer.status == 404:
            raise SourceNotFound(kind=_KIND, repo=source.repo)
        found = self._object(answer)
        if found.get("private") is not False:  # a token may read what a stranger may not
            raise SourceNotFound(kind=_KIND, repo=source.repo)
        name = str(found.get("full_name"))
        if name.lower() != source.repo.lower():  # GitHub redirects what was renamed
            address = f"github:{name}@{source.revision}"
            raise SourceMoved(repo=source.repo, new=name, address=address)
        if found.get("disabled"):
            raise _disabled(source.repo)
        return str(found.get("default_branch"))

    # Asking

    def _get(
        self,
        source: Source,
        path: str = "",
        accept: str = _JSON,
        params: Mapping[str, str] | None = None,
    ) -> _Answer:
        """A small answer, that of an error too."""
        with self._stream(source, path, accept, params) as answer:
            content = bytearray()
            for chunk in answer.iter_bytes():
                content += chunk
                if len(content) > _MAX_ANSWER_BYTES:
                    raise GitHubUnavailable(problem="its answer is far too long")
            return _Answer(answer.status_code, answer.headers, bytes(content))

    @contextmanager
    def _stream(
        self,
        source: Source,
        path: str = "",
        accept: str = _JSON,
        params: Mapping[str, str] | None = None,
    ) -> Iterator[httpx.Response]:
        """An answer, unless the limit is used up."""
        with self._lock:
            until = self._used_up_until
        if until and until > datetime.now(UTC):
            raise SourceLimited(_SITE, until)
        url = f"/repos/{source.repo}/{path}".rstrip("/")
        headers = {"Accept": accept}
        try:
            with self._http.stream("GET", url, headers=headers, params=params) as answer:
                self._watch(source, answer)
                yield answer
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            raise GitHubUnavailable(problem=type(exc).__name__) from exc

    def _watch(self, source: Source, answer: httpx.Response) -> None:
        """Remembers when the limit is used up, by this answer or by the last ones.

        Raises:
            SourceLimited, SourceDisabled.
        """
        for part in (*answer.history, answer):
            if part.headers.get("X-RateLimit-Remaining") == "0":
                self._used_up(_reset(part.headers))
        if answer.status_code == 451:
            raise _disabled(source.repo)
        if answer.status_code not in {403, 429}:
            return
        said = answer.read().decode("utf-8", "replace").lower()
        if answer.status_code == 429 or _is_limit(answer.headers) or "rate limit" in said:
            until = _reset(answer.headers) or asked_to_wait(answer.headers)
            raise SourceLimited(_SITE, self._used_up(until))
        if "block" in said:
            raise _disabled(source.repo)

    def _used_up(self, until: datetime | None) -> datetime:
        until = until or in_seconds(_UNSAID_SECONDS)
        with self._lock:
            self._used_up_until = max(until, self._used_up_until or until)
        return until

    def _require_ok(self, answer: _Answer) -> None:
        if answer.status != 200:
            raise _unavailable(answer)

    def _object(self, answer: _Answer) -> dict[str, Any]:
        self._require_ok(answer)
        found = answer.json()
        if not isinstance(found, dict):
            raise GitHubUnavailable(problem="its answer is none of GitHub's")
        return found

    def _list(self, answer: _Answer) -> list[Any]:
        self._require_ok(answer)
        found = answer.json()
        return found if isinstance(found, list) else []


def _is_limit(headers: httpx.Headers) -> bool:
    return headers.get("X-RateLimit-Remaining") == "0" or "Retry-After" in headers


def _reset(headers: httpx.Headers) -> datetime | None:
    """When GitHub counts anew, where nothing is left until then."""
    reset = headers.get("X-RateLimit-Reset", "")
    if headers.get("X-RateLimit-Remaining") != "0" or not (reset.isascii() and reset.isdigit()):
        return None
    return in_seconds(float(reset[:11]) - datetime.now(UTC).timestamp())


def _disabled(repo: str) -> SourceDisabled:
    return SourceDisabled(site=_SITE, kind=_KIND, repo=repo)


def _unavailable(answer: _Answer) -> ArenaError:
    unavailable = GitHubUnavailable(problem=f"status {answer.status}")
    unavailable.until = asked_to_wait(answer.headers)
    return unavailable
