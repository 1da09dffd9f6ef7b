"""One repository: revisions, trees, commits and refs over a bare git directory."""

import re
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from arena.localhub import errors
from arena.localhub.changes import Changes, Entry, apply_changes
from arena.localhub.git import GitError, ObjectReaders, run_git
from arena.localhub.lfs import POINTER_SIZES, LfsObjects, Pointer, parse_pointer
from arena.localhub.metadata import RepoMeta

MAIN = "main"
_FULL_SHA = re.compile(r"[0-9a-f]{40}")
_SHORT_SHA = re.compile(r"[0-9a-f]{7,39}")
# A subset of what git allows, with none of its revision syntax (`~`, `^`, `:`, `@{`).
_REF_NAME = re.compile(
    r"(?!.*(?:\.\.|//|/\.|\.lock(?:/|$)|[./]$))[A-Za-z0-9_][\w./+-]{0,199}", re.ASCII
)
_NO_OBJECT = "0" * 40
_CACHED_SNAPSHOTS = 16


class Commit(NamedTuple):
    sha: str
    tree: str
    at: datetime


class Snapshot(NamedTuple):
    """A commit with all its entries, directories included, by path."""

    commit: Commit
    entries: Mapping[str, Entry]


class LogEntry(NamedTuple):
    sha: str
    author: str
    at: datetime
    title: str
    message: str


class Message(NamedTuple):
    author: str
    title: str
    description: str = ""


class Ref(NamedTuple):
    name: str
    sha: str


class Repository:
    def __init__(
        self, git_dir: Path, meta: RepoMeta, readers: ObjectReaders, scratch: Path
    ) -> None:
        self.git_dir = git_dir
        self.meta = meta
        self.lfs = LfsObjects(git_dir)
        self._pointers: dict[str, Pointer | None] = {}
        self._readers = readers
        self._scratch = scratch
        self._write_lock = threading.Lock()
        self._snapshots: OrderedDict[str, Snapshot] = OrderedDict()
        self._snapshots_lock = threading.Lock()

    def update_meta(self, update: Mapping[str, object]) -> RepoMeta:
        with self._write_lock:
            meta = self.meta.model_copy(update=dict(update))
            meta.save(self.git_dir)
            self.meta = meta
        return meta

    # Reading

    def find_commit(self, revision: str) -> Commit | None:
        """A full or short sha, a branch, a tag, or a ref by its full name."""
        for name in _candidates(revision):
            found = self._readers.read(self.git_dir, name + "^{commit}")
            if found is not None:
                return _parse_commit(found.oid, found.content)
        return None

    def commit_at(self, revision: str) -> Commit:
        commit = self.find_commit(revision)
        if commit is None:
            raise errors.revision_not_found(revision)
        return commit

    def snapshot(self, revision: str) -> Snapshot:
        with self._snapshots_lock:
            cached = self._snapshots.get(revision)  # only a full sha is ever a key
        if cached is not None:
            return cached
        commit = self.commit_at(revision)
        with self._snapshots_lock:
            cached = self._snapshots.get(commit.sha)
        if cached is not None:
            return cached
        snapshot = Snapshot(commit, self._list_tree(commit.tree))
        with self._snapshots_lock:
            self._snapshots[commit.sha] = snapshot
            if len(self._snapshots) > _CACHED_SNAPSHOTS:
                self._snapshots.popitem(last=False)
        return snapshot

    def read_file(self, entry: Entry) -> bytes:
        return self.lfs.read(entry.lfs) if entry.lfs else self.read_blob(entry.oid)

    def read_blob(self, oid: str) -> bytes:
        blob = self._readers.read(self.git_dir, oid)
        if blob is None:
            raise GitError(f"blob {oid} is missing")
        return blob.content

    def log(self, sha: str, *, skip: int, limit: int) -> list[LogEntry]:
        arguments = ["log", "-z", f"--skip={skip}", f"--max-count={limit}"]
        output = self._git(*arguments, "--format=tformat:%H%x1f%an%x1f%ct%x1f%B", sha)
        return [_parse_log_entry(record) for record in output.decode().split("\0") if record]

    def count_commits(self, sha: str) -> int:
        return int(self._git("rev-list", "--count", sha))

    def refs(self, kind: str) -> list[Ref]:
        """The branches (`heads`) or tags (`tags`), with the commits they stand at."""
        prefix = f"refs/{kind}/"
        output = self._git("for-each-ref", "--format=%(refname) %(objectname)", prefix)
        pairs = (line.split() for line in output.decode().splitlines())
        return [Ref(name.removeprefix(prefix), sha) for name, sha in pairs]

    # Writing

    def commit(self, branch: str, changes: Changes, message: Message, parent: str | None) -> Commit:
        """Apply the changes to the branch's head in one step, or not at all."""
        for path, pointer in changes.large_files.items():
            if not self.lfs.has(pointer):
                raise errors.bad_request(f"The content of {path} was not uploaded.")
        contents = {**changes.files, **{p: x.text() for p, x in changes.large_files.items()}}
        oids = self._store_blobs(list(contents.values()))
        blobs = dict(zip(contents, oids, strict=True))
        ref = f"refs/heads/{branch.removeprefix('refs/heads/')}"
        with self._write_lock:
            head = self.find_commit(ref)
            if head is None:
                raise errors.revision_not_found(branch)
            if parent is not None and not head.sha.startswith(parent):
                raise errors.stale_parent()
            before = self.snapshot(head.sha).entries
            tree = self._write_tree(apply_changes(before, changes, blobs))
            if tree == head.tree:
                return head
            return self._advance(ref, tree, head.sha, message)

    def first_commit(self, files: Mapping[str, bytes], message: Message) -> None:
        oids = self._store_blobs(list(files.values()))
        blobs = dict(zip(files, oids, strict=True))
        tree = self._write_tree(apply_changes({}, Changes(files=files), blobs))
        self._advance(f"refs/heads/{MAIN}", tree, None, message)

    def create_ref(self, kind: str, name: str, sha: str) -> None:
        check_ref_name(name)
        with self._write_lock:
            try:
                self._git("update-ref", f"refs/{kind}/{name}", sha, _NO_OBJECT)
            except GitError as error:
                raise errors.conflict(f"Reference already exists: {name}") from error

    def delete_ref(self, kind: str, name: str) -> None:
        check_ref_name(name)
        with self._write_lock:
            if self.find_commit(f"refs/{kind}/{name}") is None:
                raise errors.revision_not_found(name)
            self._git("update-ref", "-d", f"refs/{kind}/{name}")

    # Git

    def _git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return run_git(self.git_dir, arguments, stdin=stdin)

    def _list_tree(self, tree: str) -> dict[str, Entry]:
        output = self._git("ls-tree", "-r", "-t", "-l", "-z", "--full-tree", tree)
        entries = {}
        for record in output.decode().split("\0")[:-1]:
            attributes, path = record.split("\t", 1)
            mode, kind, oid, size = attributes.split()
            entries[path] = self._entry(mode, oid, int(size) if kind == "blob" else None)
        return entries

    def _entry(self, mode: str, oid: str, size: int | None) -> Entry:
        pointer = self._pointer(oid) if size in POINTER_SIZES else None
        return Entry(mode, oid, pointer.size if pointer else size, pointer)

    def _pointer(self, oid: str) -> Pointer | None:
        """The large content that a blob stands for; None where it is a file like any other."""
        if oid not in self._pointers:
            pointer = parse_pointer(self.read_blob(oid))
            self._pointers[oid] = pointer if pointer and self.lfs.has(pointer) else None
        return self._pointers[oid]

    def _store_blobs(self, contents: list[bytes]) -> list[str]:
        """Write blobs and return their ids: unreferenced, so harmless if nothing follows."""
        if not contents:
            return []
        with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
            names = [str(number) for number in range(len(contents))]
            for name, content in zip(names, contents, strict=True):
                Path(folder, name).write_bytes(content)
            arguments = ("hash-object", "-w", "--no-filters", "--stdin-paths")
            stdin = "\n".join(names).encode()
            output = run_git(self.git_dir, arguments, stdin=stdin, cwd=Path(folder))
        return output.decode().split()

    def _write_tree(self, files: Mapping[str, Entry]) -> str:
        lines = (f"{entry.mode} {entry.oid}\t{path}\0" for path, entry in files.items())
        with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
            arguments = ("update-index", "-z", "--index-info")
            stdin = "".join(lines).encode()
            try:
                # A path it takes for `.git` in disguise it leaves out, with nothing but a remark.
                run_git(self.git_dir, arguments, stdin=stdin, environment=index, silent=True)
            except GitError as error:
                raise errors.bad_request(f"Refused by git: {error}") from error
            return run_git(self.git_dir, ("write-tree",), environment=index).decode().strip()

    def _advance(self, ref: str, tree: str, head: str | None, message: Message) -> Commit:
        """Commit the tree on top of the head; the ref moves last, and only from that head."""
        parents = ("-p", head) if head else ()
        email = f"{message.author}@localhub.invalid"
        people = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", message.author), ("EMAIL", email))
        }
        text = f"{message.title}\n\n{message.description}".rstrip() + "\n"
        arguments = ("commit-tree", tree, *parents)
        output = run_git(self.git_dir, arguments, stdin=text.encode(), environment=people)
        sha = output.decode().strip()
        try:
            self._git("update-ref", ref, sha, head or _NO_OBJECT)
        except GitError as error:  # someone moved the ref with git itself
            raise errors.stale_parent() from error
        return self.commit_at(sha)


def check_ref_name(name: str) -> None:
    if not _REF_NAME.fullmatch(name) or _FULL_SHA.fullmatch(name):
        raise errors.bad_request(f"Invalid reference name: {name[:100]!r}")


def _candidates(revision: str) -> list[str]:
    if _FULL_SHA.fullmatch(revision):
        return [revision]
    if not _REF_NAME.fullmatch(revision):
        return []
    names = [f"refs/heads/{revision}", f"refs/tags/{revision}"]
    if revision.startswith("refs/"):
        names.insert(0, revision)
    if _SHORT_SHA.fullmatch(revision):
        names.append(revision)
    return names


def _parse_commit(sha: str, content: bytes) -> Commit:
    headers = content.split(b"\n\n", 1)[0].decode(errors="replace").splitlines()
    fields = dict(line.split(" ", 1) for line in headers if " " in line)
    seconds = int(fields["committer"].rsplit(" ", 2)[1])
    return Commit(sha, fields["tree"], datetime.fromtimestamp(seconds, UTC))


def _parse_log_entry(record: str) -> LogEntry:
    sha, author, seconds, text = record.split("\x1f", 3)
    title, _, message = text.strip("\n").partition("\n")
    return LogEntry(
        sha, author, datetime.fromtimestamp(int(seconds), UTC), title, message.strip("\n")
    )
