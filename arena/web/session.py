"""The session's cookie, kept small, and ended for good by signing out.

Gradio puts the provider's whole answer into a signed cookie. Above 4 KB a browser drops it and
the sign-in silently does not stick; and a copied cookie would still work after signing out.
"""

from __future__ import annotations

import hashlib
import threading
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CLAIMS = ("sub", "name", "preferred_username", "profile", "picture")
_TOKEN = ("access_token", "scope", "expires_at")
_STATE = "_state_huggingface"
_OAUTH = "oauth_info"


class SignedOut:
    """Hashes of the tokens that were signed out, each until it would have expired anyway."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def add(self, oauth: dict[str, Any]) -> None:
        """Remembers a session's token."""
        now = time.time()
        with self._lock:
            self._until = {key: until for key, until in self._until.items() if until > now}
            self._until[_key(oauth)] = float(oauth.get("expires_at") or now)

    def __contains__(self, oauth: dict[str, Any]) -> bool:
        with self._lock:
            return _key(oauth) in self._until


class Session:
    """Between Starlette's session and Gradio: keeps the cookie slim, and signed-out ones out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._signed_out = SignedOut()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = scope.get("session")
        if session is None:
            await self._app(scope, receive, send)
            return
        oauth = session.get(_OAUTH)
        if oauth and oauth in self._signed_out:
            del session[_OAUTH]
        elif oauth and scope["path"] == "/logout":
            self._signed_out.add(oauth)

        async def send_slim(message: Message) -> None:
            if message["type"] == "http.response.start" and "id_token" in session.get(_OAUTH, {}):
                _slim(session)
            await send(message)

        await self._app(scope, receive, send_slim)


def _slim(session: dict[str, Any]) -> None:
    """Keeps of a fresh sign-in what Gradio reads; organizations are asked of the Hub instead."""
    oauth = session[_OAUTH]
    claims = oauth.get("userinfo") or {}
    session[_OAUTH] = {name: oauth.get(name) for name in _TOKEN} | {
        "userinfo": {name: claims.get(name) or "" for name in _CLAIMS}
    }
    for name in [name for name in session if name.startswith(_STATE)]:
        del session[name]


def _key(oauth: dict[str, Any]) -> str:
    return hashlib.sha256(str(oauth.get("access_token")).encode()).hexdigest()
