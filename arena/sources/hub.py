"""Public datasets of the Hub, read without the arena's credentials.

With `token=False` the Hub answers as it would a stranger: a private repository, the suite's
included, does not exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
from huggingface_hub import HfApi, get_session, hf_hub_url
from huggingface_hub.errors import (
    DisabledRepoError,
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import (  # type: ignore[attr-defined]  # documented there
    hf_raise_for_status,
)

from arena.blobs import digest_of, digests
from arena.errors import (
    ArenaError,
    HubUnavailable,
    RevisionNotFound,
    SourceDisabled,
    SourceGated,
    SourceLimited,
    SourceMoved,
    SourceNotFound,
    SubpathNotFound,
)
from arena.sources.address import PinnedSource, Source
from arena.sources.cache import FileCache
from arena.sources.limits import MAX_SMALL_BYTES, Tally
from arena.waiting import asked_to_wait, in_seconds

_TIMEOUT = httpx.Timeout(30)
_KIND = "dataset"


class _File(NamedTuple):
    """A file of a listing; `digest` is of its content, as git's blob or, in LFS, as sha256."""

    path: str
    size: int
    digest: str
    in_lfs: bool

    @classmethod
    def of(cls, entry: RepoFile) -> _File:
        return cls(entry.path, entry.size, digest_of(entry), entry.lfs is not None)


class HubSource:
    """Reads public datasets: a SourceReader."""

    def __init__(self, endpoint: str, cache: FileCache) -> None:
        self._api = HfApi(endpoint=endpoint, token=False)
        self._cache = cache

    def resolve(self, source: Source) -> PinnedSource:
        """The commit that the source's revision means now; see SourceReader."""
        with _hub_errors(source):
            info = self._api.dataset_info(source.repo, revision=source.revision, timeout=30)
        if info.private or not info.sha:
            raise SourceNotFound(kind=_KIND, repo=source.repo)
        if info.id.lower() != source.repo.lower():  # the Hub redirects what was renamed
            new = f"hf:{info.id}@{source.revision}"
            raise SourceMoved(repo=source.repo, new=info.id, address=new)
        if info.gated:
            raise SourceGated(repo=source.repo)
        if info.disabled:
            raise _disabled(source)
        return PinnedSource(source, info.sha)

    def read_small(self, pinned: PinnedSource, name: str) -> str | None:
        """One small text file of the collection's folder; None where it is not there."""
        path = f"{pinned.source.subpath}/{name}".lstrip("/")
        with _hub_errors(pinned.source):
            try:
                content = self._download(pinned, path, MAX_SMALL_BYTES)
            except EntryNotFoundError:
                return None
        return content.decode("utf-8", "replace") if len(content) <= MAX_SMALL_BYTES else None

    def is_on_main(self, pinned: PinnedSource) -> bool:
        """Whether the commit is in the main branch's history: its owner let it in.

        A pull request's commits can be named as well, and anybody can open one.
        """
        with _hub_errors(pinned.source):
            history = self._pages(pinned.source, "commits", "main")
            return any(commit["id"] == pinned.commit for commit in history)

    def fetch(self, pinned: PinnedSource, destination: Path) -> None:
        """Writes the collection's files below `destination`; see SourceReader.

        One call for the tree, then one GET for each file that the cache does not hold.
        """
        prefix = f"{pinned.source.subpath}/" if pinned.source.subpath else ""
        with _hub_errors(pinned.source):
            for file in self._list(pinned):
                target = destination / file.path.removeprefix(prefix)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(self._content(pinned, file))

    def _list(self, pinned: PinnedSource) -> list[_File]:
        kept = self._cache.listing(pinned)
        if kept is not None:
            return [_File(*row) for row in kept]
        tally, files = Tally(), []
        for entry in self._tree(pinned):
            tally.add(entry.path, entry.size)
            files.append(_File.of(entry))
        self._cache.keep_listing(pinned, files)
        return files

    def _tree(self, pinned: PinnedSource) -> Iterator[RepoFile]:
        source = pinned.source
        below = (source.subpath,) if source.subpath else ()
        try:
            for row in self._pages(source, "tree", pinned.commit, *below, recursive=True):
                if row["type"] == "file":
                    yield RepoFile(**row)  # type: ignore[no-untyped-call]
        except EntryNotFoundError as exc:
            raise SubpathNotFound(
                repo=source.repo, subpath=source.subpath, revision=pinned.commit
            ) from exc

    def _pages(self, source: Source, *parts: str, **params: Any) -> Iterator[dict[str, Any]]:
        """The rows of a list of the Hub's, page after page.

        The client's own way asks without a timeout, and sleeps where it meets a limit.
        """
        path = "/".join(quote(part, safe="") for part in parts)
        url: str | None = f"{self._api.endpoint}/api/datasets/{source.repo}/{path}"
        while url:
            answer = get_session().get(url, params=params or None, timeout=_TIMEOUT)
            hf_raise_for_status(answer)
            yield from answer.json()
            url, params = answer.links.get("next", {}).get("url"), {}

    def _content(self, pinned: PinnedSource, file: _File) -> bytes:
        content = self._cache.content(file.digest)
        if content is None:
            content = self._download(pinned, file.path, file.size)
            if not _is_content(content, file):
                raise HubUnavailable(problem="a file arrived that is not the one the Hub lists")
            self._cache.keep(file.digest, content)
        return content

    def _download(self, pinned: PinnedSource, path: str, size: int) -> bytes:
        """A file's bytes, read no further than just beyond `size`."""
        url = hf_hub_url(
            pinned.source.repo,
            path,
            repo_type="dataset",
            revision=pinned.commit,
            endpoint=self._api.endpoint,
        )
        with get_session().stream("GET", url, timeout=_TIMEOUT, follow_redirects=True) as answer:
            hf_raise_for_status(answer)
            content = bytearray()
            for chunk in answer.iter_bytes():
                content += chunk
                if len(content) > size:
                    break
        return bytes(content)


def _is_content(content: bytes, file: _File) -> bool:
    git, sha256 = digests(content)
    return file.digest == (sha256 if file.in_lfs else git)


def _disabled(source: Source) -> SourceDisabled:
    return SourceDisabled(site="The Hub", kind=_KIND, repo=source.repo)


def _unanswered(answer: httpx.Response) -> ArenaError:
    """What an answer says that is none: a limit, or a fault of the Hub's."""
    if answer.status_code == 429:
        return SourceLimited("The Hub", asked_to_wait(answer.headers) or in_seconds(60))
    unavailable = HubUnavailable(problem=f"status {answer.status_code}")
    unavailable.until = asked_to_wait(answer.headers)
    return unavailable


@contextmanager
def _hub_errors(source: Source) -> Iterator[None]:
    """The Hub client's exceptions as the arena's."""
    try:
        yield
    except RevisionNotFoundError as exc:
        raise RevisionNotFound(repo=source.repo, revision=source.revision) from exc
    except GatedRepoError as exc:
        raise SourceGated(repo=source.repo) from exc
    except DisabledRepoError as exc:
        raise _disabled(source) from exc
    except (RepositoryNotFoundError, HFValidationError) as exc:
        raise SourceNotFound(kind=_KIND, repo=source.repo) from exc
    except EntryNotFoundError as exc:
        raise HubUnavailable(problem="a file is missing that the Hub lists") from exc
    except HfHubHTTPError as exc:
        raise _unanswered(exc.response) from exc
    except (httpx.HTTPError, httpx.InvalidURL) as exc:
        raise HubUnavailable(problem=type(exc).__name__) from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise HubUnavailable(problem="its answer is none of the Hub's") from exc
