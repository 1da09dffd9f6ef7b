"""How a run ends early, and at whose cost."""

from __future__ import annotations

from typing import ClassVar, Literal


class RunFault(Exception):
    """A run that cannot go on; `code` is for programs, the message for people."""

    fault: ClassVar[Literal["author", "platform"]]

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class AuthorFault(RunFault):
    """The collection's own doing: it would fail again on any worker."""

    fault = "author"


class PlatformFault(RunFault):
    """The arena's doing: it costs the author nothing."""

    fault = "platform"


class Cancelled(Exception):
    """Somebody called the run off."""
