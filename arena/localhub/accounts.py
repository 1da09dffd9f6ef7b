"""Who exists on the local hub, with which tokens and which roles in the organization.

The tokens are public knowledge, which is why the server listens on the loopback address only.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

TokenRole = Literal["read", "write"]
OrgRole = Literal["admin", "write", "contributor", "read"]


@dataclass(frozen=True)
class Account:
    name: str
    fullname: str

    @property
    def id(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Organization:
    name: str
    fullname: str
    members: dict[str, OrgRole]

    @property
    def id(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Identity:
    """A caller. `scopes` is None for a user's own token, a set for one issued by sign-in."""

    user: str
    role: TokenRole
    scopes: frozenset[str] | None = None
    expires: datetime | None = None

    @property
    def can_write(self) -> bool:
        return self.scopes is None and self.role == "write"

    @property
    def sees_private(self) -> bool:
        return self.scopes is None or "read-repos" in self.scopes


ACCOUNTS: dict[str, Account] = {
    account.name: account
    for account in (
        Account("author", "Ada Author"),
        Account("rival", "Remy Rival"),
        Account("editor", "Edda Editor"),
        Account("arena-bot", "Arena Bot"),
        Account("arena-worker", "Arena Worker"),
    )
}

# The app is a contributor: it writes the repositories it created and reads the others. A write
# role would make it an editor of the arena, which it is not.
ORGANIZATIONS: dict[str, Organization] = {
    "arena": Organization(
        name="arena",
        fullname="PostTrain Arena",
        members={"editor": "admin", "arena-bot": "contributor", "arena-worker": "read"},
    )
}

USER_TOKENS: dict[str, Identity] = {
    "hf_author": Identity("author", "write"),
    "hf_rival": Identity("rival", "write"),
    "hf_editor": Identity("editor", "write"),
    "hf_arena": Identity("arena-bot", "write"),
    "hf_worker": Identity("arena-worker", "write"),
    "hf_author_read": Identity("author", "read"),
    "hf_editor_read": Identity("editor", "read"),
}


def org_role(user: str, namespace: str) -> OrgRole | None:
    organization = ORGANIZATIONS.get(namespace)
    return organization.members.get(user) if organization else None


def memberships(user: str) -> list[tuple[Organization, OrgRole]]:
    return [(org, org.members[user]) for org in ORGANIZATIONS.values() if user in org.members]
