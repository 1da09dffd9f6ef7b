"""A repository: a real one of git's, with what GitHub knows of it beside."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_ENV = {
    **os.environ,
    **{f"GIT_{who}_NAME": "somebody" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "somebody@localgithub.invalid" for who in ("AUTHOR", "COMMITTER")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass
class GitRepository:
    """One repository and its network: a fork's commits are its own objects, as on GitHub."""

    name: str
    folder: Path
    number: int
    private: bool = False
    disabled: bool = False
    blocked: bool = False
    archive: bytes | None = None
    """What its archive is, where a test makes one that git would not."""

    @classmethod
    def create(cls, name: str, folder: Path, number: int) -> GitRepository:
        folder.mkdir(parents=True)
        made = cls(name, folder, number)
        made.git("init", "-q", "-b", "main")
        return made

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=_ENV, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, str] | None = None) -> str:
        """Commits what stands in the folder, with `files` added; gives the commit."""
        for path, text in (files or {}).items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a change")
        return self.git("rev-parse", "HEAD")

    def propose(self, files: dict[str, str]) -> str:
        """A pull request from a fork: its commit is in the network, on no branch."""
        before = self.git("rev-parse", "HEAD")
        proposed = self.commit(files)
        self.git("update-ref", "refs/pull/1/head", proposed)
        self.git("reset", "-q", "--hard", before)
        return proposed

    def find(self, revision: str) -> str | None:
        """The commit of a branch, a tag, any ref, or a full or short commit."""
        for name in (
            f"refs/heads/{revision}",
            f"refs/tags/{revision}",
            f"refs/{revision}",
            revision,
        ):
            try:
                return self.git("rev-parse", "-q", "--verify", f"{name}^{{commit}}")
            except subprocess.CalledProcessError:
                continue
        return None

    def heads_at(self, commit: str) -> list[str]:
        form = "--format=%(refname:short)"
        return self.git("for-each-ref", form, "--points-at", commit, "refs/heads").split()

    def compare(self, base: str, head: str) -> str:
        """What GitHub calls it: identical, behind, ahead or diverged."""
        if base == head:
            return "identical"
        common = self.git("merge-base", base, head)
        return {head: "behind", base: "ahead"}.get(common, "diverged")

    def show(self, commit: str, path: str) -> bytes | None:
        done = subprocess.run(
            ["git", "show", f"{commit}:{path}"], cwd=self.folder, capture_output=True, check=False
        )
        return done.stdout if done.returncode == 0 else None

    def tarball(self, commit: str) -> bytes:
        if self.archive is not None:
            return self.archive
        prefix = f"{self.name.replace('/', '-')}-{commit[:7]}/"
        arguments = ["git", "archive", "--format=tar.gz", f"--prefix={prefix}", commit]
        return subprocess.run(arguments, cwd=self.folder, capture_output=True, check=True).stdout
