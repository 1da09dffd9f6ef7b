"""Every refusal, in the shape that `huggingface_hub` turns into its typed exceptions."""

from collections.abc import Mapping
from http import HTTPStatus


class HubError(Exception):
    """A refusal: `code` goes into X-Error-Code, which the client reads to pick its exception."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.extra_headers = headers or {}

    def headers(self) -> dict[str, str]:
        # Header values are latin-1 and one line; messages may quote a user's path.
        printable = "".join(c if " " <= c <= "~" else "?" for c in self.message)
        headers = {**self.extra_headers, "X-Error-Message": printable}
        if self.code:
            headers["X-Error-Code"] = self.code
        return headers


def bad_request(message: str) -> HubError:
    return HubError(HTTPStatus.BAD_REQUEST, message)


def forbidden(message: str) -> HubError:
    return HubError(HTTPStatus.FORBIDDEN, message)


def conflict(message: str) -> HubError:
    return HubError(HTTPStatus.CONFLICT, message)


def sign_in_required() -> HubError:
    return HubError(HTTPStatus.UNAUTHORIZED, "Invalid username or password.")


def invalid_credentials() -> HubError:
    return HubError(HTTPStatus.UNAUTHORIZED, "Invalid credentials in Authorization header")


def repo_not_found(*, signed_in: bool) -> HubError:
    """The one answer for a repository that is absent and for one that is not yours to see."""
    status = HTTPStatus.NOT_FOUND if signed_in else HTTPStatus.UNAUTHORIZED
    return HubError(status, "Repository not found", "RepoNotFound")


def revision_not_found(revision: str) -> HubError:
    return HubError(HTTPStatus.NOT_FOUND, f"Invalid rev id: {revision}", "RevisionNotFound")


def entry_not_found(
    message: str = "Entry not found", *, headers: Mapping[str, str] | None = None
) -> HubError:
    return HubError(HTTPStatus.NOT_FOUND, message, "EntryNotFound", headers=headers)


def gated(repo_id: str, *, signed_in: bool) -> HubError:
    status = HTTPStatus.FORBIDDEN if signed_in else HTTPStatus.UNAUTHORIZED
    return HubError(
        status, f"Access to {repo_id} is restricted: the repository is gated.", "GatedRepo"
    )


def stale_parent() -> HubError:
    return HubError(
        HTTPStatus.PRECONDITION_FAILED,
        "A commit has happened since. Please refresh and try again.",
    )
