"""What can go wrong around a trial, told apart by who can mend it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class EngineError(Exception):
    """The Docker engine refused or failed. `status` is its HTTP status, None without an answer."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class EngineUnavailable(EngineError):
    """No Docker engine answers; the message names the address that was tried."""

    def __init__(self, address: str, why: str) -> None:
        super().__init__(f"no Docker engine answers at {address}: {why}")
        self.address = address


class NoDockerCommand(EngineUnavailable):
    """The docker command, which builds images, is missing or cannot use BuildKit."""

    def __init__(self, why: str) -> None:
        super().__init__("", why)
        self.args = (f"no docker command that can build images: {why}",)


class EndedEarly(EngineError):
    """A container that was to wait ended: somebody killed it, or its image has no shell that waits.

    Which of the two, another try tells: nobody kills each. `output`: what it said.
    """

    output = ""


class CannotStart(EngineError):
    """The engine refused to make a container ready for its first process.

    Its own trouble, or the image's: which of the two, a container of another image tells.
    """


class UnreadableLists(EngineError):
    """In a container's list of users or groups stands what the engine must not open."""


class RegistryTrouble(EngineError):
    """A registry or address that the author named did not answer as it should.

    It may be down, or made up: who can mend it is told by whether other registries answer.
    `log` is the end of the build's.
    """

    def __init__(self, message: str, registries: frozenset[str], log: str) -> None:
        super().__init__(message)
        self.registries = registries
        self.log = log


class BuildError(Exception):
    """The package's image does not build: its author's to mend. Holds the end of the build log."""

    def __init__(self, package: str, why: str, log: str) -> None:
        super().__init__(f"the image of {package} does not build: {why}")
        self.log = log


class SessionOver(Exception):
    """The agent's container is gone or its time is up: there is nothing left to run a command in.

    Raised by `Session.run` through the agent, and understood by the trial: an agent need not
    catch it.
    """


class AgentFault(Exception):
    """What the agent left cannot be verified; the trial scores 0."""


@contextmanager
def blaming_the_agent() -> Iterator[None]:
    """An engine that refuses to copy an agent's files answers, and would refuse them again.

    Taken for the platform's trouble, a name too long would be a way to a missing result. That a
    container is gone (404) is no doing of an agent's.
    """
    try:
        yield
    except EngineError as error:
        if error.status in (None, 404) or "no space left" in str(error):
            raise
        if "file name too long" in str(error).lower():  # it quotes the path, and the host's before
            raise AgentFault("the agent left a path that is too long to be copied") from error
        raise AgentFault(f"the agent's files cannot be copied: {error}") from error


@contextmanager
def of_the_image() -> Iterator[None]:
    """What an engine answers to an image's first steps may be the image's doing.

    That an image or a container is gone (404) is not, nor is a full disk.
    """
    try:
        yield
    except EngineError as error:
        gone = error.status == 404 and "no such" in str(error).lower()
        if error.status is None or gone or "no space left" in str(error):
            raise
        raise CannotStart(str(error), error.status) from error


def is_the_containers(error: EngineError) -> bool:
    """A container that takes no command, with an engine that is well.

    409: it is not running. "OCI runtime exec failed": no process could be made inside, because
    its shell, its memory or its process table is gone. "unable to find user": the image has none
    of the name that the package gives.
    """
    said = str(error)
    return error.status == 409 or "OCI runtime exec failed" in said or "to find user" in said
