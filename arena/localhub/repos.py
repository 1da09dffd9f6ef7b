"""All repositories of a data directory: found at the start, created and deleted whole."""

import fcntl
import os
import secrets
import shutil
import threading
from datetime import UTC, datetime
from pathlib import Path

from arena.localhub.git import ObjectReaders, run_git
from arena.localhub.metadata import METADATA_FILE, RepoMeta, RepoType, check_repo_name
from arena.localhub.repository import MAIN, Message, Repository

# Nothing is declared as LFS: only its size makes a file a large one.
_FIRST_FILES = {".gitattributes": b"* -text\n"}


class DataInUseError(Exception):
    """Another server runs on this data directory; two would not see each other's locks."""


class Repositories:
    def __init__(self, data: Path) -> None:
        self._root = data / "repositories"
        self._scratch = data / "scratch"
        self._root.mkdir(parents=True, exist_ok=True)
        self._data_lock = _lock_directory(data)
        # What a killed server left half done is here, and only here.
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir()
        self._readers = ObjectReaders()
        self._lock = threading.Lock()
        self._repositories = {
            (repo.meta.type, repo.meta.repo_id): repo
            for repo in map(self._open, self._root.glob(f"*/*/*.git/{METADATA_FILE}"))
        }

    def find(self, type_: RepoType, repo_id: str) -> Repository | None:
        return self._repositories.get((type_, repo_id))

    def all(self) -> list[Repository]:
        with self._lock:
            repositories = list(self._repositories.values())
        return sorted(repositories, key=lambda repo: (repo.meta.type, repo.meta.repo_id))

    def create(
        self, type_: RepoType, owner: str, name: str, *, creator: str, private: bool
    ) -> Repository | None:
        """Build the repository aside, then move it into place in one step; None if there is one."""
        check_repo_name(name)
        meta = RepoMeta(
            type=type_,
            owner=owner,
            name=name,
            creator=creator,
            created_at=datetime.now(UTC).replace(microsecond=0),
            private=private,
        )
        git_dir = self._git_dir(meta)
        with self._lock:
            if git_dir.exists():
                return None
            building = self._scratch / secrets.token_hex(8)
            run_git(building, ("init", "--bare", "--quiet", "--template=", f"-b{MAIN}"))
            draft = Repository(building, meta, self._readers, self._scratch)
            draft.first_commit(_FIRST_FILES, Message(creator, "initial commit"))
            meta.save(building)
            self._readers.close(building)
            git_dir.parent.mkdir(parents=True, exist_ok=True)
            building.rename(git_dir)
            repo = Repository(git_dir, meta, self._readers, self._scratch)
            self._repositories[type_, meta.repo_id] = repo
        return repo

    def delete(self, repo: Repository) -> None:
        grave = self._scratch / secrets.token_hex(8)
        with self._lock:
            if self._repositories.pop((repo.meta.type, repo.meta.repo_id), None) is None:
                return
            repo.git_dir.rename(grave)
        self._readers.close(repo.git_dir)
        shutil.rmtree(grave)

    def close(self) -> None:
        self._readers.close_all()
        os.close(self._data_lock)

    def _git_dir(self, meta: RepoMeta) -> Path:
        return self._root / meta.type.plural / meta.owner / f"{meta.name}.git"

    def _open(self, metadata_file: Path) -> Repository:
        git_dir = metadata_file.parent
        _remove_stale_locks(git_dir)
        return Repository(git_dir, RepoMeta.load(git_dir), self._readers, self._scratch)


def _remove_stale_locks(git_dir: Path) -> None:
    """A git that was killed together with the server leaves its lock files, and with them a
    repository that refuses every commit. Nobody else is at work here: we hold the data lock."""
    for lock in (*git_dir.glob("*.lock"), *(git_dir / "refs").rglob("*.lock")):
        lock.unlink()


def _lock_directory(data: Path) -> int:
    descriptor = os.open(data / "lock", os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise DataInUseError(f"another local hub runs on {data}") from error
    return descriptor
