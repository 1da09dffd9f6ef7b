"""The OpenID provider's state and rules: the registered application, codes, the signing key."""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey
from pydantic import BaseModel, ConfigDict

from arena.localhub.accounts import ACCOUNTS
from arena.localhub.errors import bad_request
from arena.localhub.files import write_atomically
from arena.localhub.tokens import LIFETIME

SCOPES = {
    "openid": "know who you are",
    "profile": "see your name, picture and organizations",
    "read-repos": "read your private repositories",
}
_CODE_LIFETIME_SECONDS = 60
_KEY_ID = "localhub"
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class Application(NamedTuple):
    client_id: str
    client_secret: str


class AuthorizationRequest(BaseModel):
    """What an application sends the browser with; validated on the page and on the answer."""

    model_config = ConfigDict(frozen=True)

    client_id: str
    redirect_uri: str
    response_type: str
    scope: str = "openid"
    state: str = ""
    nonce: str = ""
    code_challenge: str = ""
    code_challenge_method: str = ""

    @property
    def scopes(self) -> list[str]:
        """Those asked for that exist here; others are not granted, as OAuth provides."""
        return [scope for scope in SCOPES if scope in self.scope.split()]


class _Consent(NamedTuple):
    user: str
    request: AuthorizationRequest
    at: float


class SignIn:
    def __init__(self, key_file: Path, application: Application | None) -> None:
        self._key = _load_key(key_file)
        self._application = application
        self._lock = threading.Lock()
        self._consents: dict[str, _Consent] = {}

    def public_keys(self) -> dict[str, Any]:
        return {"keys": [self._key.as_dict(private=False)]}

    def check_request(self, request: AuthorizationRequest) -> None:
        """Refuse on a page of our own: nothing of this request can be trusted as a way back."""
        if self._application is None or request.client_id != self._application.client_id:
            raise bad_request("No application is registered with this client_id.")
        if not _is_loopback(request.redirect_uri):
            raise bad_request("redirect_uri must be an http address on this computer.")
        if request.response_type != "code":
            raise bad_request("response_type must be `code`.")
        if "openid" not in request.scopes:
            raise bad_request("scope must contain `openid`.")
        if request.code_challenge and request.code_challenge_method != "S256":
            raise bad_request("code_challenge_method must be `S256`.")

    def is_application(self, client_id: str, client_secret: str) -> bool:
        if self._application is None:
            return False
        given = f"{client_id}\0{client_secret}".encode()
        known = f"{self._application.client_id}\0{self._application.client_secret}".encode()
        return hmac.compare_digest(given, known)

    def consent(self, user: str, request: AuthorizationRequest) -> str:
        """A code for the application to exchange, once and soon."""
        code = secrets.token_urlsafe(32)
        now = time.monotonic()
        with self._lock:
            self._consents = {
                key: consent for key, consent in self._consents.items() if _is_fresh(consent, now)
            }
            self._consents[code] = _Consent(user, request, now)
        return code

    def redeem(
        self, code: str, redirect_uri: str, code_verifier: str
    ) -> tuple[str, AuthorizationRequest] | None:
        with self._lock:
            consent = self._consents.pop(code, None)
        if consent is None or not _is_fresh(consent, time.monotonic()):
            return None
        request = consent.request
        if redirect_uri != request.redirect_uri:
            return None
        if request.code_challenge and _s256(code_verifier) != request.code_challenge:
            return None
        return consent.user, request

    def id_token(self, user: str, request: AuthorizationRequest, issuer: str) -> str:
        now = int(time.time())
        claims = userinfo(user, issuer) | {
            "iss": issuer,
            "aud": request.client_id,
            "iat": now,
            "exp": now + int(LIFETIME.total_seconds()),
        }
        if request.nonce:
            claims["nonce"] = request.nonce
        token: str = jwt.encode({"alg": "RS256", "kid": _KEY_ID}, claims, self._key)
        return token


def userinfo(user: str, base_url: str) -> dict[str, Any]:
    """Few claims: they end up in a session cookie, which holds 4 KB."""
    account = ACCOUNTS[user]
    return {
        "sub": account.id,
        "name": account.fullname,
        "preferred_username": account.name,
        "profile": f"{base_url}/{account.name}",
        "picture": f"{base_url}/avatars/{account.name}.svg",
    }


def _is_fresh(consent: _Consent, now: float) -> bool:
    return now - consent.at < _CODE_LIFETIME_SECONDS


def _is_loopback(uri: str) -> bool:
    try:
        parts = urlsplit(uri)
        host = parts.hostname
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and host in _LOOPBACK and not parts.fragment


def _s256(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _load_key(file: Path) -> RSAKey:
    """The same key after a restart, so that an id_token issued before it still verifies."""
    if file.exists():
        return RSAKey.import_key(json.loads(file.read_bytes()))
    parameters = {"kid": _KEY_ID, "use": "sig", "alg": "RS256"}
    key = RSAKey.generate_key(2048, parameters)
    write_atomically(file, json.dumps(key.as_dict(private=True)).encode(), mode=0o600)
    return key
