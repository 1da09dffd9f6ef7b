"""The address of a collection: `hf:` or `github:`, `OWNER/NAME@REVISION[:SUBPATH]`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from arena.errors import BadSource

Scheme = Literal["hf", "github"]

_DEFAULT: dict[Scheme, str] = {"hf": "main", "github": "HEAD"}
_NAME = r"[A-Za-z0-9](?:[\w.-]{0,94}[\w])?"
_ADDRESS = re.compile(
    rf"(?P<scheme>hf|github):(?P<owner>{_NAME})/(?P<name>{_NAME})"
    r"(?:@(?P<revision>[\w./+-]{1,200}))?(?::(?P<subpath>.*))?",
    re.ASCII,
)


_PULL_REQUEST = re.compile(r"(?:refs/)?(?:pr|pull)/")


@dataclass(frozen=True)
class Source:
    """An address as it was given: the revision may still be a branch or a tag."""

    scheme: Scheme
    owner: str
    name: str
    revision: str
    subpath: str = ""

    @property
    def repo(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def holder(self) -> str:
        """Who owns the repository, as an account of the Hub.

        A GitHub owner is none: whoever has that name on the Hub may be somebody else.
        """
        return self.owner if self.scheme == "hf" else f"{self.scheme}:{self.owner}"

    @property
    def line(self) -> str:
        """The address without its revision: what a line of collections is known by."""
        return f"{self.scheme}:{self.repo}{self._below}".lower()

    def at(self, revision: str) -> str:
        """The address as text, at a revision."""
        return f"{self.scheme}:{self.repo}@{revision}{self._below}"

    @property
    def _below(self) -> str:
        return f":{self.subpath}" if self.subpath else ""

    def __str__(self) -> str:
        return self.at(self.revision)


@dataclass(frozen=True)
class PinnedSource:
    """A source and the one commit that its revision meant when it was asked."""

    source: Source
    commit: str

    @classmethod
    def parse(cls, text: str) -> PinnedSource:
        """Reads an address whose revision is a commit already, as one is stored."""
        source = parse_source(text)
        return cls(source, source.revision)

    def __str__(self) -> str:
        return self.source.at(self.commit)


def is_name(text: str) -> bool:
    """Whether the Hub could have a user or an organization of that name."""
    return re.fullmatch(_NAME, text, re.ASCII) is not None


def parse_source(text: str) -> Source:
    """Reads an address; without a revision, `main` is meant, on GitHub the default branch.

    Raises:
        BadSource: the text is no address.
    """
    text = text.strip()
    match = _ADDRESS.fullmatch(text)
    if not match:
        raise _bad(text, "it does not read hf:OWNER/NAME@REVISION or github:OWNER/NAME@REVISION")
    revision, subpath = match["revision"] or "", (match["subpath"] or "").strip("/")
    if any(part in {"", ".", ".."} for part in subpath.split("/")) and subpath:
        raise _bad(text, "its subpath leaves the repository")
    if not subpath.isprintable() or len(subpath) > 200:
        raise _bad(text, "its subpath is no path")
    if ".." in match["owner"] + match["name"] + revision:
        raise _bad(text, "a name with '..' is none of a repository's")
    if _PULL_REQUEST.match(revision):
        # anyone may open one: what it holds is not its owner's word, nor are its `members`
        raise _bad(text, "a pull request belongs to nobody yet")
    scheme: Scheme = "hf" if match["scheme"] == "hf" else "github"
    return Source(scheme, match["owner"], match["name"], revision or _DEFAULT[scheme], subpath)


def _bad(text: str, problem: str) -> BadSource:
    return BadSource(source=repr(text[:200]), problem=problem)
