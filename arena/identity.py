"""Who is asking: a token becomes a user, organizations and roles, by asking the Hub."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import httpx
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

from arena.challenges import ArenaFile, Challenge
from arena.errors import HubUnavailable, InvalidToken, NotEditor, NotWorker, WeakToken

EDITOR_ROLES = frozenset({"write", "admin"})
_REMEMBERED_SECONDS = 60.0
_REMEMBERED_AT_MOST = 10_000

Via = Literal["session", "token"]


@dataclass(frozen=True)
class Identity:
    """A user as the Hub knows them. `token_role` is the role of the token that they came with."""

    user: str
    via: Via
    token_role: str
    organizations: Mapping[str, str] = field(default_factory=dict)

    def may_act_for(self, owner: str) -> bool:
        """Whether this is the owner of a repository, or a member of the owning organization."""
        names = {self.user.lower(), *(name.lower() for name in self.organizations)}
        return owner.lower() in names


class Identities:
    """Asks the Hub who a token belongs to, and remembers the answer for a minute.

    Tokens are kept as hashes only.
    """

    def __init__(self, endpoint: str) -> None:
        self._api = HfApi(endpoint=endpoint, token=False)
        self._known: dict[str, tuple[float, Identity]] = {}
        self._lock = threading.Lock()

    def of(self, token: str, via: Via) -> Identity:
        """The identity behind a token.

        Raises:
            InvalidToken: the Hub does not know it.
            HubUnavailable: the Hub did not answer.
        """
        key = hashlib.sha256(f"{via}:{token}".encode()).hexdigest()
        now = time.monotonic()
        with self._lock:
            found = self._known.get(key)
        if found and found[0] > now:
            return found[1]
        identity = self._ask(token, via)
        with self._lock:
            if len(self._known) >= _REMEMBERED_AT_MOST:
                self._known.clear()
            self._known[key] = (now + _REMEMBERED_SECONDS, identity)
        return identity

    def _ask(self, token: str, via: Via) -> Identity:
        if not token or not token.isascii() or any(char.isspace() for char in token):
            raise InvalidToken
        try:
            answer = self._api.whoami(token=token)
        except HfHubHTTPError as exc:
            if exc.response.status_code in {400, 401, 403}:
                raise InvalidToken from exc
            raise HubUnavailable(problem=f"status {exc.response.status_code}") from exc
        except httpx.HTTPError as exc:
            raise HubUnavailable(problem=type(exc).__name__) from exc
        auth = answer.get("auth") or {}
        return Identity(
            user=answer["name"],
            via=via,
            token_role=str((auth.get("accessToken") or {}).get("role") or auth.get("type")),
            organizations={
                org["name"]: str(org.get("roleInOrg")) for org in answer.get("orgs") or ()
            },
        )


def is_editor(who: Identity, arena: ArenaFile, challenge: Challenge | None = None) -> bool:
    """Whether `who` may review: a writing member of the organization, or a named user."""
    named = {name.lower() for name in arena.editors + (challenge.editors if challenge else ())}
    role = who.organizations.get(arena.organization)
    return role in EDITOR_ROLES or who.user.lower() in named


def require_editor(who: Identity, arena: ArenaFile, challenge: Challenge | None = None) -> None:
    """Lets an editor pass who came by the web session or with a writing user token.

    Raises:
        NotEditor, WeakToken.
    """
    if not is_editor(who, arena, challenge):
        name = challenge.id if challenge else "this arena"
        raise NotEditor(user=who.user, challenge=name, organization=arena.organization)
    if who.via == "token" and who.token_role != "write":  # noqa: S105 - the name of a role
        raise WeakToken(role=who.token_role)


def require_worker(who: Identity, arena: ArenaFile) -> None:
    """Lets a worker pass.

    Raises:
        NotWorker.
    """
    if who.user not in arena.workers:
        raise NotWorker(user=who.user)
