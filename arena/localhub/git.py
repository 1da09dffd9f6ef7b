"""The git command: single calls, and long-lived readers for what is asked all the time."""

import os
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class GitError(Exception):
    """A git command failed; the message is its standard error."""


class GitObject(NamedTuple):
    oid: str
    type: str
    content: bytes


class _ReaderClosedError(Exception):
    """This reader's process is gone; another one can be started."""


# The hub's repositories behave the same whatever the user has configured for git.
_ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
}

# Paths that mean `.git` on a Mac or on Windows are refused on every machine.
_SETTINGS = ("-c", "core.protectHFS=true", "-c", "core.protectNTFS=true")


def run_git(
    git_dir: Path,
    arguments: Sequence[str],
    *,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    silent: bool = False,
) -> bytes:
    """The command's output. With `silent`, a remark on standard error is a failure as well."""
    result = subprocess.run(
        ["git", *_SETTINGS, "--git-dir", str(git_dir), *arguments],
        input=stdin,
        capture_output=True,
        env={**_ENVIRONMENT, **(environment or {})},
        cwd=cwd,
        # Ctrl-C in the terminal is for the server, which lets a commit under way finish.
        process_group=0,
    )
    if result.returncode != 0 or (silent and result.stderr):
        raise GitError(result.stderr.decode(errors="replace").strip())
    return result.stdout


class _Reader:
    """One `git cat-file --batch`: an object per question, without starting a process for each."""

    def __init__(self, git_dir: Path) -> None:
        self.asked = 0
        """How many questions are under way or wait; the lock of the readers' keeper guards it."""
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            ["git", "--git-dir", str(git_dir), "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_ENVIRONMENT,
            process_group=0,
        )

    def read(self, name: str) -> GitObject | None:
        with self._lock:
            stdin, stdout = self._process.stdin, self._process.stdout
            assert stdin is not None
            assert stdout is not None
            if stdin.closed:
                raise _ReaderClosedError
            try:
                stdin.write(name.encode() + b"\n")
                stdin.flush()
            except BrokenPipeError as error:
                raise _ReaderClosedError from error
            header = stdout.readline().decode(errors="replace").split()
            if not header:
                raise _ReaderClosedError
            if header[-1] in ("missing", "ambiguous"):
                return None
            oid, kind, size = header
            content = stdout.read(int(size) + 1)[:-1]
            if len(content) != int(size):
                raise _ReaderClosedError
            return GitObject(oid, kind, content)

    def close(self) -> None:
        with self._lock:
            self._process.kill()
            self._process.communicate()


class ObjectReaders:
    """A reader per repository in use; the least recently used that nobody asks makes room."""

    def __init__(self, limit: int = 24) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._readers: OrderedDict[Path, _Reader] = OrderedDict()

    def read(self, git_dir: Path, name: str) -> GitObject | None:
        """The object that `name` (one line, no untrusted git syntax) stands for, or None."""
        for _ in range(3):
            reader = self._reader(git_dir)
            try:
                return reader.read(name)
            except _ReaderClosedError:
                self._drop(git_dir, reader)
            finally:
                with self._lock:
                    reader.asked -= 1
        raise GitError(f"cannot read from {git_dir.name}")

    def close(self, git_dir: Path) -> None:
        with self._lock:
            reader = self._readers.pop(git_dir, None)
        if reader:
            reader.close()

    def close_all(self) -> None:
        for git_dir in list(self._readers):
            self.close(git_dir)

    def _reader(self, git_dir: Path) -> _Reader:
        with self._lock:
            reader = self._readers.get(git_dir)
            if reader is None:
                reader = self._readers[git_dir] = _Reader(git_dir)
            reader.asked += 1
            self._readers.move_to_end(git_dir)
            idle = [path for path, other in self._readers.items() if not other.asked]
            surplus = max(0, len(self._readers) - self._limit)
            evicted = [self._readers.pop(path) for path in idle[:surplus]]
        for other in evicted:
            other.close()
        return reader

    def _drop(self, git_dir: Path, reader: _Reader) -> None:
        with self._lock:
            if self._readers.get(git_dir) is reader:
                del self._readers[git_dir]
        reader.close()
