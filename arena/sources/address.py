"""The address of a collection: `hf:OWNER/NAME@REVISION[:SUBPATH]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from arena.errors import BadSource

_NAME = r"[A-Za-z0-9](?:[\w.-]{0,94}[\w])?"
_ADDRESS = re.compile(
    rf"(?P<scheme>hf|github):(?P<owner>{_NAME})/(?P<name>{_NAME})"
    r"(?:@(?P<revision>[\w./+-]{1,200}))?(?::(?P<subpath>.*))?",
    re.ASCII,
)


@dataclass(frozen=True)
class Source:
    """An address as it was given: the revision may still be a branch or a tag."""

    owner: str
    name: str
    revision: str
    subpath: str = ""

    @property
    def repo(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def line(self) -> str:
        """The address without its revision: what a line of collections is known by."""
        return f"hf:{self.repo}{':' + self.subpath if self.subpath else ''}".lower()

    def at(self, revision: str) -> str:
        """The address as text, at a revision."""
        return f"hf:{self.repo}@{revision}{':' + self.subpath if self.subpath else ''}"

    def __str__(self) -> str:
        return self.at(self.revision)


def is_name(text: str) -> bool:
    """Whether the Hub could have a user or an organization of that name."""
    return re.fullmatch(_NAME, text, re.ASCII) is not None


def parse_source(text: str) -> Source:
    """Reads an address; without a revision, `main` is meant.

    Raises:
        BadSource: the text is no address, or one of a kind that is not read yet.
    """
    text = text.strip()
    shown = text[:200]
    match = _ADDRESS.fullmatch(text)
    if not match:
        raise BadSource(source=repr(shown), problem="it does not read hf:OWNER/NAME@REVISION")
    if match["scheme"] == "github":
        raise BadSource(source=repr(shown), problem="GitHub repositories are not read yet")
    subpath = (match["subpath"] or "").strip("/")
    if any(part in {"", ".", ".."} for part in subpath.split("/")) and subpath:
        raise BadSource(source=repr(shown), problem="its subpath leaves the repository")
    if not subpath.isprintable() or len(subpath) > 200:
        raise BadSource(source=repr(shown), problem="its subpath is no path")
    if ".." in match["owner"] + match["name"] or ".." in (match["revision"] or ""):
        raise BadSource(source=repr(shown), problem="a name with '..' is none of the Hub's")
    if (match["revision"] or "").startswith("refs/pr/"):
        # anyone may open one: what it holds is not its owner's word, nor are its `members`
        raise BadSource(source=repr(shown), problem="a pull request belongs to nobody yet")
    return Source(match["owner"], match["name"], match["revision"] or "main", subpath)
