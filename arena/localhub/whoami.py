"""Who a token belongs to."""

from typing import Any

from fastapi import APIRouter

from arena.localhub.accounts import ACCOUNTS, Identity, Organization, memberships
from arena.localhub.dependencies import BaseUrl, SignedIn
from arena.localhub.times import iso

router = APIRouter()


@router.get("/api/whoami-v2")
async def whoami(caller: SignedIn, base_url: BaseUrl) -> dict[str, Any]:
    account = ACCOUNTS[caller.user]
    return {
        "type": "user",
        "id": account.id,
        "name": account.name,
        "fullname": account.fullname,
        "avatarUrl": f"{base_url}/avatars/{account.name}.svg",
        "isPro": False,
        "canPay": False,
        "orgs": [
            _org(organization, base_url) | {"roleInOrg": role}
            for organization, role in memberships(account.name)
        ],
        "auth": _auth(caller),
    }


def _org(organization: Organization, base_url: str) -> dict[str, Any]:
    return {
        "type": "org",
        "id": organization.id,
        "name": organization.name,
        "fullname": organization.fullname,
        "avatarUrl": f"{base_url}/avatars/{organization.name}.svg",
        "isEnterprise": False,
    }


def _auth(caller: Identity) -> dict[str, Any]:
    if caller.expires is not None:
        return {"type": "oauth", "expiresAt": iso(caller.expires)}
    name = f"{caller.user} ({caller.role})"
    return {"type": "access_token", "accessToken": {"displayName": name, "role": caller.role}}
