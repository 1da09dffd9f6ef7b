"""The results dataset behind the ledger: commits of new files, each on the parent decided on.

Every way in which the Hub fails is one of five exceptions, by what the caller has to do.
"""

from __future__ import annotations

import itertools
import json
import logging
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx
from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationDelete,
    HfApi,
    get_session,
    hf_hub_url,
)
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import (  # type: ignore[attr-defined]  # documented, not in __all__
    build_hf_headers,
    paginate,
)

from arena.blobs import Blobs, digest_of, digests
from arena.records import AnyRecord, Record, UnreadRecord
from arena.storecard import dataset_card
from arena.storefiles import (
    Unreadable,
    files_of,
    is_data,
    is_tail,
    merged,
    merges,
    read_lines,
)
from arena.waiting import asked_seconds
from arena.wholefiles import put_whole

log = logging.getLogger(__name__)

COMPACT_AT = 250  # files; the design allows 300, and one commit adds at most one a kind
_DOWNLOADS = 8
_CARD_TRIES = 5
_FORMER_HEADS = 1000
_TIMEOUT = httpx.Timeout(60)


class StoreError(Exception):
    """The Hub did not do what it was asked; `wait`: the seconds that it asks to be left alone."""

    def __init__(self, problem: str, wait: float = 0.0) -> None:
        super().__init__(problem)
        self.wait = wait


class StoreConflict(StoreError):
    """Another writer was first; what was decided was decided on old state."""


class StoreUncertain(StoreError):
    """The Hub's answer was lost: the commit may have landed, or not.

    `may_land_yet`: the Hub itself said nothing, so what it was asked may still be under way.
    """

    def __init__(self, problem: str, wait: float = 0.0, may_land_yet: bool = False) -> None:
        super().__init__(problem, wait)
        self.may_land_yet = may_land_yet


class StoreNotTaken(StoreError):
    """Nothing was committed; asking again may help."""


class StoreRefused(StoreError):
    """Nothing was committed, and asking the same again will not help."""


class StoreUnread(StoreError):
    """The store could not be read."""


@dataclass
class Reading:
    """What was read: the head, the new records by `seq`, what is no record, and the last place."""

    head: str
    records: list[AnyRecord | UnreadRecord] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    last: int = 0


class Store:
    """One dataset of records. Not thread-safe: one thread of the ledger calls it."""

    def __init__(self, repo: str, api: HfApi, cache: Path) -> None:
        self.repo = repo
        self._api = api
        self._blobs = Blobs(cache)
        self._listing = cache / "listing.json"
        self._files: dict[str, str] = {}
        self._former: deque[str] = deque(maxlen=_FORMER_HEADS)
        self._head = ""

    @property
    def files(self) -> int:
        """How many files of records the store had when it was last read or written."""
        return len(self._files)

    def create(self) -> None:
        """Makes the dataset with its card where it does not exist.

        Raises:
            StoreError: it cannot be reached, or not be written to.
        """
        tries = 0
        while not self._has_card():
            tries += 1
            try:
                self._declare()
            except StoreConflict:  # another process that starts declares it too, or commits
                if tries == _CARD_TRIES:
                    raise

    def _has_card(self) -> bool:
        with _reading():
            exists = self._api.repo_exists(self.repo, repo_type="dataset")
            return exists and self._card() == dataset_card()

    def _declare(self) -> None:
        with _writing():
            self._api.create_repo(self.repo, repo_type="dataset", exist_ok=True)
            card = CommitOperationAdd("README.md", dataset_card().encode())
            self._api.create_commit(
                self.repo, [card], commit_message="Declare the records", repo_type="dataset"
            )

    def require_writable(self) -> None:
        """Asks whether the arena's token may write here: a store that it may not reads as well.

        Raises:
            StoreRefused: it may not.
            StoreNotTaken: the Hub does not answer.
        """
        with _writing():
            self._api.auth_check(self.repo, repo_type="dataset", write=True)

    def commit_times(self) -> list[datetime]:
        """When the newest commits were made, oldest first, whoever made them."""
        with _reading():
            commits = paginate(
                f"{self._api.endpoint}/api/datasets/{self.repo}/commits/main",
                params={"limit": 100},
                headers=self._headers(),
            )
            newest = [str(row["date"]) for row in itertools.islice(commits, 100)]
        return sorted(datetime.fromisoformat(text) for text in newest)

    def read_new(self, after: int) -> Reading | None:
        """What stands in the store after the record `after`; None where nothing has changed.

        A head that was there before this process's newest commit lags behind, and is ignored.

        Raises:
            StoreUnread: the Hub does not answer, or a file is not the one it lists.
        """
        with _reading():
            head = self._api.dataset_info(self.repo, timeout=30).sha or ""
            if head == self._head or head in self._former:
                return None
            entries = self._list(head)
            listed = {entry.path: digest_of(entry) for entry in entries}
            contents = self._contents(head, [entry for entry in entries if self._is_new(entry)])
        reading = self._read(head, contents, after)
        self._moved(head, listed)
        return reading

    def read_kept(self) -> Reading | None:
        """What this machine keeps of the store, whole as of some time; None where it does not."""
        try:
            kept = json.loads(self._listing.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        contents: dict[str, bytes] = {}
        for path, digest in kept["files"].items():
            content = self._blobs.get(digest)
            if content is None:
                return None
            contents[path] = content
        return self._read(kept["head"], contents, 0)

    def append(self, records: Sequence[Record], parent: str) -> str:
        """Commits `records` on `parent`; gives the new head.

        Raises:
            StoreConflict, StoreUncertain, StoreNotTaken, StoreRefused.
        """
        files = files_of(records)
        kinds = sorted({record.kind for record in records})  # type: ignore[attr-defined]
        message = f"{len(records)} records: {', '.join(kinds)}"
        operations = [CommitOperationAdd(path, content) for path, content in files.items()]
        head = self._commit(operations, message, parent)
        self._moved(head, self._files | self._keep(files))
        return head

    def compact(self, parent: str) -> str:
        """Puts the files of a month into one, in a commit of its own; gives the new head.

        Raises:
            StoreConflict, StoreUncertain, StoreNotTaken, StoreRefused, StoreUnread.
        """
        with _reading():
            entries = {entry.path: entry for entry in self._list(parent)}
            tail = self._contents(parent, [e for path, e in entries.items() if is_tail(path)])
            plan = merges(entries, tail, str(datetime.now(UTC).year))
            olds = {old for olds in plan.values() for old in olds}
            contents = self._contents(parent, [entries[path] for path in olds])
        new = {path: merged(contents[old] for old in olds) for path, olds in plan.items()}
        gone = olds - set(new)
        if not gone:
            return parent
        operations = [CommitOperationAdd(path, content) for path, content in new.items()]
        removals = [CommitOperationDelete(path) for path in sorted(gone)]
        message = f"Compact {len(gone)} files into {len(new)}"
        head = self._commit([*operations, *removals], message, parent)
        kept = {path: digest_of(e) for path, e in entries.items() if path not in gone}
        self._moved(head, kept | self._keep(new))
        return head

    def _commit(
        self,
        operations: Sequence[CommitOperationAdd | CommitOperationDelete],
        message: str,
        parent: str,
    ) -> str:
        with _writing():
            done = self._api.create_commit(
                self.repo,
                operations,
                commit_message=message,
                repo_type="dataset",
                parent_commit=parent,
            )
        return done.oid

    def _moved(self, head: str, files: dict[str, str]) -> None:
        """Notes the head and its files, on disk as well, for a start without the Hub."""
        if self._head:
            self._former.append(self._head)
        self._head, self._files = head, files
        listing = json.dumps({"head": head, "files": files}).encode()
        try:
            put_whole(self._listing, listing)
        except OSError as exc:
            log.warning("the store's listing is not kept on this machine: %s", exc)

    def sweep(self) -> None:
        """Removes from this machine's disk what is no part of the store any more."""
        self._blobs.keep_only({*self._files.values(), self._listing.name})

    def _read(self, head: str, files: dict[str, bytes], after: int) -> Reading:
        reading = Reading(head)
        for path, content in files.items():
            lines = read_lines(path, content, after)
            reading.records += lines.records
            reading.unreadable += lines.unreadable
            reading.last = max(reading.last, lines.last)
        reading.records.sort(key=lambda record: record.seq)
        return reading

    def _is_new(self, entry: RepoFile) -> bool:
        known = self._files.get(entry.path)
        return known is None or (not is_tail(entry.path) and known != digest_of(entry))

    def _list(self, head: str) -> list[RepoFile]:
        tree = self._api.list_repo_tree(
            self.repo, recursive=True, revision=head, repo_type="dataset"
        )
        return [entry for entry in tree if isinstance(entry, RepoFile) and is_data(entry.path)]

    def _contents(self, head: str, entries: Sequence[RepoFile]) -> dict[str, bytes]:
        with ThreadPoolExecutor(_DOWNLOADS) as pool:
            loaded = pool.map(lambda entry: self._content(head, entry), entries)
            return {entry.path: content for entry, content in zip(entries, loaded, strict=True)}

    def _content(self, head: str, entry: RepoFile) -> bytes:
        """One file: kept, or by one GET."""
        digest = digest_of(entry)
        kept = self._blobs.get(digest)
        if kept is not None:
            return kept
        url = hf_hub_url(
            self.repo,
            entry.path,
            repo_type="dataset",
            revision=head,
            endpoint=self._api.endpoint,
        )
        answer = get_session().get(
            url, headers=self._headers(), timeout=_TIMEOUT, follow_redirects=True
        )
        if answer.status_code != 200:
            raise StoreUnread(f"status {answer.status_code} for {entry.path}")
        if digest not in digests(answer.content):
            raise StoreUnread(f"{entry.path} arrived as another file than the Hub lists")
        self._blobs.keep(answer.content, digest)
        return answer.content

    def _keep(self, files: dict[str, bytes]) -> dict[str, str]:
        """Keeps what was committed; gives each file's digest."""
        names: dict[str, str] = {}
        for path, content in files.items():
            names[path], _ = digests(content)
            self._blobs.keep(content, names[path])
        return names

    def _card(self) -> str | None:
        if not self._api.file_exists(self.repo, "README.md", repo_type="dataset"):
            return None
        path = self._api.hf_hub_download(self.repo, "README.md", repo_type="dataset")
        return Path(path).read_text(encoding="utf-8")

    def _headers(self) -> dict[str, str]:
        return build_hf_headers(token=self._api.token)


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except HfHubHTTPError as exc:
        raise StoreUnread(_problem(exc), _asked_wait(exc)) from exc
    except httpx.ConnectError as exc:
        raise StoreUnread("there is no connection") from exc
    except (httpx.HTTPError, OSError) as exc:
        raise StoreUnread(type(exc).__name__) from exc


@contextmanager
def _writing() -> Iterator[None]:
    """The client's exceptions by what is known: only the commit's own request can be uncertain."""
    try:
        yield
    except HfHubHTTPError as exc:
        status, wait = exc.response.status_code, _asked_wait(exc)
        if status in {409, 412}:
            raise StoreConflict(_problem(exc)) from exc
        if status == 429:
            raise StoreNotTaken("the Hub's limit is reached (status 429)", wait) from exc
        if status < 500:
            raise StoreRefused(_problem(exc)) from exc
        if _is_commit(exc.response.request):
            is_of_proxy = status in {502, 504}
            raise StoreUncertain(_problem(exc), wait, may_land_yet=is_of_proxy) from exc
        raise StoreNotTaken(_problem(exc), wait) from exc
    except httpx.ConnectError as exc:
        raise StoreNotTaken("there is no connection") from exc
    except httpx.RequestError as exc:
        if _is_commit(exc.request):
            raise StoreUncertain(type(exc).__name__, may_land_yet=True) from exc
        raise StoreNotTaken(type(exc).__name__) from exc
    except OSError as exc:  # Xet's own kind of error; it uploads before the commit is asked for
        raise StoreNotTaken("an upload failed") from exc


def _problem(exc: HfHubHTTPError) -> str:
    return f"status {exc.response.status_code}" if exc.response is not None else "no answer"


def _is_commit(request: httpx.Request) -> bool:
    return "/commit/" in request.url.path


def _asked_wait(exc: HfHubHTTPError) -> float:
    """The seconds that the Hub asks to wait; the client's own errors carry no answer."""
    return (asked_seconds(exc.response.headers) or 0.0) if exc.response is not None else 0.0
