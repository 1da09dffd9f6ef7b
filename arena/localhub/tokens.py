"""Tokens issued by sign-in, kept across restarts and only as digests."""

import hashlib
import secrets
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from arena.localhub.accounts import ACCOUNTS, USER_TOKENS, Identity
from arena.localhub.files import write_atomically

LIFETIME = timedelta(hours=8)


class _Grant(BaseModel):
    model_config = ConfigDict(frozen=True)

    user: str
    scopes: frozenset[str]
    expires: datetime


_GRANTS = TypeAdapter(dict[str, _Grant])


class Tokens:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._grants = _GRANTS.validate_json(file.read_bytes()) if file.exists() else {}

    def issue(self, user: str, scopes: frozenset[str]) -> str:
        token = f"hf_oauth_{secrets.token_urlsafe(32)}"
        now = datetime.now(UTC)
        with self._lock:
            grants = {key: grant for key, grant in self._grants.items() if grant.expires > now}
            grants[_digest(token)] = _Grant(user=user, scopes=scopes, expires=now + LIFETIME)
            write_atomically(self._file, _GRANTS.dump_json(grants), mode=0o600)
            self._grants = grants
        return token

    def identify(self, token: str) -> Identity | None:
        if token in USER_TOKENS:
            return USER_TOKENS[token]
        grant = self._grants.get(_digest(token))
        if grant is None or grant.expires <= datetime.now(UTC) or grant.user not in ACCOUNTS:
            return None
        return Identity(grant.user, "read", grant.scopes, grant.expires)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
