"""What editors alone may know of a validation, kept in the public store: encrypted, of one size.

That there is something to hide would say as much as what it is, so every validation has a note,
and all notes are as long.
"""

from __future__ import annotations

import base64
import hmac
import zlib

from cryptography.fernet import Fernet, InvalidToken
from pydantic import BaseModel, ConfigDict

from arena.nearcopies import Comparison, NearCopy, concerns

NOTE_BYTES = 1024
"""Before encryption; what does not fit is counted."""


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


class EditorsNote(BaseModel):
    """What a comparison found for the editors' eye. `concerns`: what the suspects amount to.

    `cut`: packages with more text than is compared. `left_out`: suspects beyond the note's size.
    """

    model_config = ConfigDict(frozen=True)

    suspects: list[Suspect] = []
    concerns: list[str] = []
    cut: list[str] = []
    left_out: int = 0


def note_of(found: Comparison, challenges: list[str], packages: int) -> EditorsNote:
    """A comparison as a note; `challenges`: whose index each is."""
    return EditorsNote(
        suspects=[_suspect(near, challenges) for near in found.suspects],
        concerns=concerns(found.suspects, packages),
        cut=found.cut[:10],
    )


def _suspect(near: NearCopy, challenges: list[str]) -> Suspect:
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
        """The note, encrypted; as many suspects are left out as do not fit."""
        while len(content := zlib.compress(note.model_dump_json().encode(), 9)) > NOTE_BYTES:
            if note.suspects:
                left = {"suspects": note.suspects[:-1], "left_out": note.left_out + 1}
                note = note.model_copy(update=left)
            else:
                note = EditorsNote(concerns=["more was found than fits"], left_out=note.left_out)
        return self._fernet.encrypt(content.ljust(NOTE_BYTES, b"\0")).decode()

    def open(self, sealed: str) -> EditorsNote | None:
        """The note; None where there is none, or it was sealed under another key."""
        try:
            content = zlib.decompressobj().decompress(self._fernet.decrypt(sealed.encode()))
            return EditorsNote.model_validate_json(content)
        except (InvalidToken, zlib.error, ValueError):
            return None
