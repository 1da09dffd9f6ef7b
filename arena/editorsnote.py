"""What editors alone may know of a validation, kept in the public store: encrypted, of one size.

That there is something to hide would say as much as what it is, so every validation has a note,
and all notes are as long.
"""

from __future__ import annotations

import base64
import hmac
import zlib
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken
from pydantic import BaseModel, ConfigDict

from arena.commonsindex import Original
from arena.nearcopies import Comparison, Likeness, NearCopy, concerns

NOTE_BYTES = 1024
"""Before encryption; what does not fit is counted."""
_MOST_ROWS = 60
_MOST_LINES = 5


class Suspect(BaseModel):
    """A package that is like a held-out task, and not as like as a copy.

    `task`: a number by which suspects of the same task can be told; it names none.
    """

    model_config = ConfigDict(frozen=True)

    package: str
    challenge: str
    task: int
    part: str
    similarity: float
    threshold: float


class Borrowed(BaseModel):
    """A package that is a near copy of somebody else's accepted one, the `original`."""

    model_config = ConfigDict(frozen=True)

    package: str
    submission: str
    original: str
    part: str
    similarity: float


class EditorsNote(BaseModel):
    """What a comparison found for the editors' eye. `concerns`: what the suspects amount to.

    `cut`: the first packages with more text than is compared, of `cut_in_all`. `left_out`:
    suspects and borrowed packages beyond the note's size.
    """

    model_config = ConfigDict(frozen=True)

    suspects: list[Suspect] = []
    borrowed: list[Borrowed] = []
    concerns: list[str] = []
    cut: list[str] = []
    cut_in_all: int = 0
    left_out: int = 0


def note_of(
    found: Comparison,
    challenges: Sequence[str],
    originals: Sequence[Original],
    line: str,
    packages: int,
) -> EditorsNote:
    """A comparison as a note.

    `challenges`: whose index each is. `originals`: what each accepted package is; those of the
    collection's own `line` are no news.
    """
    borrowed: dict[str, Borrowed] = {}
    for package, likeness in found.borrowed:
        original = originals[likeness.task]
        if original.line != line:
            borrowed.setdefault(package, _borrowed(package, likeness, original))
    return EditorsNote(
        suspects=[_suspect(near, challenges) for near in found.suspects],
        borrowed=list(borrowed.values()),
        concerns=concerns(found.suspects, packages)[:_MOST_LINES],
        cut=found.cut[:_MOST_LINES],
        cut_in_all=len(found.cut),
    )


def _borrowed(package: str, likeness: Likeness, original: Original) -> Borrowed:
    return Borrowed(
        package=package,
        submission=original.submission,
        original=original.package,
        part=likeness.part,
        similarity=round(likeness.similarity, 2),
    )


def _suspect(near: NearCopy, challenges: Sequence[str]) -> Suspect:
    likeness = near.likeness
    return Suspect(
        package=near.package,
        challenge=challenges[near.source],
        task=likeness.task,
        part=likeness.part,
        similarity=round(likeness.similarity, 2),
        threshold=likeness.threshold,
    )


class EditorsNotes:
    """Seals and opens notes under the suite's key."""

    def __init__(self, key: bytes) -> None:
        derived = hmac.digest(key, b"editors' notes", "sha256")
        self._fernet = Fernet(base64.urlsafe_b64encode(derived))

    def seal(self, note: EditorsNote) -> str:
        """The note, encrypted; as many rows are left out as do not fit."""
        rows = _MOST_ROWS
        while len(content := zlib.compress(_at_most(note, rows).model_dump_json().encode())) > (
            NOTE_BYTES
        ):
            rows -= 1
        return self._fernet.encrypt(content.ljust(NOTE_BYTES, b"\0")).decode()

    def open(self, sealed: str) -> EditorsNote | None:
        """The note; None where there is none, or it was sealed under another key."""
        try:
            content = zlib.decompressobj().decompress(self._fernet.decrypt(sealed.encode()))
            return EditorsNote.model_validate_json(content)
        except (InvalidToken, zlib.error, ValueError):
            return None


def _at_most(note: EditorsNote, rows: int) -> EditorsNote:
    """The note with at most so many suspects, and as many borrowed packages."""
    suspects, borrowed = note.suspects[:rows], note.borrowed[:rows]
    left_out = len(note.suspects) + len(note.borrowed) - len(suspects) - len(borrowed)
    return note.model_copy(
        update={"suspects": suspects, "borrowed": borrowed, "left_out": left_out}
    )
