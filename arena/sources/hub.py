"""Public datasets of the Hub, read without the arena's credentials.

With `token=False` the Hub answers as it would a stranger: a private repository, the suite's
included, does not exist.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import httpx
from huggingface_hub import HfApi, get_session, hf_hub_url
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile

from arena.errors import HubUnavailable, RevisionNotFound, SourceGated, SourceNotFound
from arena.packages import Finding
from arena.packages.files import MAX_FILE_BYTES, is_unsafe_name
from arena.packages.findings import error, shown
from arena.sources.address import Source

MAX_COLLECTION_BYTES = 256 * 1024 * 1024
MAX_COLLECTION_FILES = 20_000
MAX_PATH_PARTS = 20
MAX_NAME_BYTES = 200
_TIMEOUT = httpx.Timeout(30)


@dataclass(frozen=True)
class PinnedSource:
    """A source and the one commit that its revision meant when it was asked."""

    source: Source
    commit: str

    def __str__(self) -> str:
        return self.source.at(self.commit)


class RefusedSource(Exception):
    """What stands at the source cannot be a collection; `findings` say why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class _File(NamedTuple):
    """A file of a listing; `digest` is of its content, as git's blob or, in LFS, as sha256."""

    path: str
    size: int
    digest: str
    in_lfs: bool

    @classmethod
    def of(cls, entry: RepoFile) -> _File:
        digest = entry.lfs.sha256 if entry.lfs else entry.blob_id
        return cls(entry.path, entry.size, digest, entry.lfs is not None)


class HubSource:
    """Reads public datasets. A commit never changes, so its listing and its files are kept.

    What was fetched once can be had again, also after its repository is gone: an accepted
    collection is still to be released.
    """

    def __init__(self, endpoint: str, cache: Path, parts: Path | None = None) -> None:
        """`parts`: where a file of the cache is while it is not whole, on the same disk."""
        self._api = HfApi(endpoint=endpoint, token=False)
        self._cache = cache
        self._parts = parts or cache
        cache.mkdir(parents=True, exist_ok=True)

    def resolve(self, source: Source) -> PinnedSource:
        """The commit that the source's revision means now.

        Raises:
            SourceNotFound, RevisionNotFound, SourceGated, HubUnavailable.
        """
        with _hub_errors(source):
            info = self._api.dataset_info(source.repo, revision=source.revision)
        if info.gated:
            raise SourceGated(repo=source.repo)
        if info.private or info.disabled or not info.sha:
            raise SourceNotFound(repo=source.repo)
        return PinnedSource(source, info.sha)

    def read_small(self, pinned: PinnedSource, name: str) -> str | None:
        """One small text file of the collection's folder; None where it is not there."""
        path = f"{pinned.source.subpath}/{name}".lstrip("/")
        with _hub_errors(pinned.source):
            found = self._api.get_paths_info(
                pinned.source.repo, [path], revision=pinned.commit, repo_type="dataset"
            )
            files = [_File.of(entry) for entry in found if isinstance(entry, RepoFile)]
            if not files or files[0].size > 256 * 1024:
                return None
            return self._content(pinned, files[0]).decode("utf-8", "replace")

    def is_on_main(self, pinned: PinnedSource) -> bool:
        """Whether the commit is in the main branch's history: its owner let it in.

        A pull request's commits can be named as well, and anybody can open one.
        """
        with _hub_errors(pinned.source):
            history = self._api.list_repo_commits(pinned.source.repo, repo_type="dataset")
        return any(commit.commit_id == pinned.commit for commit in history)

    def fetch(self, pinned: PinnedSource, destination: Path) -> None:
        """Writes the collection's files below `destination`, which must be empty.

        One call for the tree, then one GET for each file that the cache does not hold.

        Raises:
            RefusedSource: unsafe paths, or more than a collection may have.
            SourceNotFound, RevisionNotFound, SourceGated, HubUnavailable.
        """
        prefix = f"{pinned.source.subpath}/" if pinned.source.subpath else ""
        with _hub_errors(pinned.source):
            files = self._list(pinned)
            for file in files:
                target = destination / _safe(file.path.removeprefix(prefix))
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(self._content(pinned, file))

    def _list(self, pinned: PinnedSource) -> list[_File]:
        kept = self._cache / f"{hashlib.sha256(str(pinned).encode()).hexdigest()}.json"
        if kept.is_file():
            return [_File(*row) for row in json.loads(kept.read_text(encoding="utf-8"))]
        files = self._ask_for_list(pinned)
        self._keep(kept, json.dumps(files).encode())
        return files

    def _ask_for_list(self, pinned: PinnedSource) -> list[_File]:
        files: list[_File] = []
        total = 0
        for entry in self._api.list_repo_tree(
            pinned.source.repo,
            path_in_repo=pinned.source.subpath or None,
            recursive=True,
            revision=pinned.commit,
            repo_type="dataset",
        ):
            if not isinstance(entry, RepoFile):
                continue
            _safe(entry.path)
            files.append(_File.of(entry))
            total += entry.size
            if entry.size > MAX_FILE_BYTES:
                raise RefusedSource(_too_large(entry.path, f"{_mib(entry.size)} in one file"))
            if total > MAX_COLLECTION_BYTES or len(files) > MAX_COLLECTION_FILES:
                limits = f"over {_mib(MAX_COLLECTION_BYTES)} or {MAX_COLLECTION_FILES:,} files"
                raise RefusedSource(_too_large(".", limits))
        return files

    def _content(self, pinned: PinnedSource, file: _File) -> bytes:
        kept = self._cache / file.digest[:2] / file.digest
        if kept.is_file():
            return kept.read_bytes()
        content = self._download(pinned, file)
        self._keep(kept, content)
        return content

    def _keep(self, path: Path, content: bytes) -> None:
        """Puts a file in the cache whole, whoever else does the same."""
        path.parent.mkdir(exist_ok=True)
        self._parts.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self._parts, delete=False) as part:
            part.write(content)
        Path(part.name).replace(path)

    def _download(self, pinned: PinnedSource, file: _File) -> bytes:
        url = hf_hub_url(
            pinned.source.repo,
            file.path,
            repo_type="dataset",
            revision=pinned.commit,
            endpoint=self._api.endpoint,
        )
        with get_session().stream("GET", url, timeout=_TIMEOUT, follow_redirects=True) as answer:
            if answer.status_code != 200:
                raise HubUnavailable(problem=f"status {answer.status_code} for a file")
            content = bytearray()
            for chunk in answer.iter_bytes():
                content += chunk
                if len(content) > file.size:
                    break
        if not _is_content(bytes(content), file):
            raise HubUnavailable(problem="a file arrived that is not the one the Hub lists")
        return bytes(content)


def _is_content(content: bytes, file: _File) -> bool:
    if file.in_lfs:
        return hashlib.sha256(content).hexdigest() == file.digest
    header = b"blob %d\0" % len(content)
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest() == file.digest


def _safe(path: str) -> str:
    """The path, where it is one below the folder that it will be written to."""
    parts = PurePosixPath(path).parts
    unsafe = path.startswith("/") or not parts or ".." in parts
    if unsafe or any(is_unsafe_name(part) for part in parts) or _is_long(parts):
        hint = "Keep plain files and folders only."
        raise RefusedSource(error("TP007", f"the path {shown(path)} is not allowed", ".", hint))
    return path


def _is_long(parts: tuple[str, ...]) -> bool:
    """Whether a file system may refuse the path."""
    return len(parts) > MAX_PATH_PARTS or any(len(part.encode()) > MAX_NAME_BYTES for part in parts)


def _too_large(path: str, what: str) -> Finding:
    hint = "A collection holds small seed data; larger data is generated in the image."
    return error("TP008", f"the collection is too large: {what}", path, hint)


def _mib(size: int) -> str:
    return f"{size / (1024 * 1024):.0f} MiB"


@contextmanager
def _hub_errors(source: Source) -> Iterator[None]:
    """The Hub client's exceptions as the arena's."""
    try:
        yield
    except RevisionNotFoundError as exc:
        raise RevisionNotFound(repo=source.repo, revision=source.revision) from exc
    except GatedRepoError as exc:
        raise SourceGated(repo=source.repo) from exc
    except (RepositoryNotFoundError, HFValidationError) as exc:
        raise SourceNotFound(repo=source.repo) from exc
    except EntryNotFoundError as exc:
        raise RevisionNotFound(
            repo=source.repo, revision=f"{source.revision} with {source.subpath}"
        ) from exc
    except HfHubHTTPError as exc:
        raise HubUnavailable(problem=f"status {exc.response.status_code}") from exc
    except httpx.HTTPError as exc:
        raise HubUnavailable(problem=type(exc).__name__) from exc
