"""The OpenID provider's addresses, as huggingface.co has them."""

import base64
import binascii
from typing import Annotated, Any
from urllib.parse import unquote_plus, urlencode, urlsplit

from fastapi import APIRouter, Form, Header, Query
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from arena.localhub import errors
from arena.localhub.accounts import ACCOUNTS
from arena.localhub.dependencies import BaseUrl, HubDep, SignedIn
from arena.localhub.signin import SCOPES, AuthorizationRequest, userinfo
from arena.localhub.templates import render
from arena.localhub.tokens import LIFETIME

router = APIRouter()


class Answer(AuthorizationRequest):
    """The page's form: the request it was shown for, and the account chosen; empty is deny."""

    user: str = ""


@router.get("/.well-known/openid-configuration")
async def discovery(base_url: BaseUrl) -> dict[str, Any]:
    return {
        "issuer": base_url,
        "authorization_endpoint": f"{base_url}/oauth/authorize",
        "token_endpoint": f"{base_url}/oauth/token",
        "userinfo_endpoint": f"{base_url}/oauth/userinfo",
        "jwks_uri": f"{base_url}/oauth/jwks",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "scopes_supported": list(SCOPES),
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "code_challenge_methods_supported": ["S256"],
        "claims_supported": ["sub", "name", "preferred_username", "profile", "picture"],
    }


@router.get("/oauth/jwks")
async def jwks(hub: HubDep) -> dict[str, Any]:
    return hub.sign_in.public_keys()


@router.get("/oauth/authorize")
def ask(hub: HubDep, request: Annotated[AuthorizationRequest, Query()]) -> HTMLResponse:
    hub.sign_in.check_request(request)
    return render(
        "authorize.html",
        request=request,
        application=urlsplit(request.redirect_uri).netloc,
        scopes=[(scope, SCOPES[scope]) for scope in request.scopes],
        accounts=ACCOUNTS.values(),
    )


@router.post("/oauth/authorize")
def answer(
    hub: HubDep,
    base_url: BaseUrl,
    form: Annotated[Answer, Form()],
    origin: Annotated[str | None, Header()] = None,
) -> RedirectResponse:
    if origin is not None and origin != base_url:
        raise errors.forbidden("Consent is given on this hub's own page.")
    hub.sign_in.check_request(form)
    if form.user and form.user not in ACCOUNTS:
        raise errors.bad_request("No such account.")
    if form.user:
        result = {"code": hub.sign_in.consent(form.user, form)}
    else:
        result = {"error": "access_denied", "error_description": "The user denied access."}
    if form.state:
        result["state"] = form.state
    separator = "&" if "?" in form.redirect_uri else "?"
    return RedirectResponse(form.redirect_uri + separator + urlencode(result), 302)


@router.post("/oauth/token")
def token(
    hub: HubDep,
    base_url: BaseUrl,
    grant_type: Annotated[str, Form()] = "",
    code: Annotated[str, Form()] = "",
    redirect_uri: Annotated[str, Form()] = "",
    code_verifier: Annotated[str, Form()] = "",
    client_id: Annotated[str, Form()] = "",
    client_secret: Annotated[str, Form()] = "",
    authorization: Annotated[str | None, Header()] = None,
) -> JSONResponse:
    if authorization is not None:
        client_id, client_secret = _basic_credentials(authorization)
    if not hub.sign_in.is_application(client_id, client_secret):
        return _refuse(401, "invalid_client")
    if grant_type != "authorization_code":
        return _refuse(400, "unsupported_grant_type")
    redeemed = hub.sign_in.redeem(code, redirect_uri, code_verifier)
    if redeemed is None:
        return _refuse(400, "invalid_grant")
    user, request = redeemed
    content = {
        "access_token": hub.tokens.issue(user, frozenset(request.scopes)),
        "token_type": "bearer",
        "expires_in": int(LIFETIME.total_seconds()),
        "scope": " ".join(request.scopes),
        "id_token": hub.sign_in.id_token(user, request, base_url),
    }
    return JSONResponse(content, headers={"Cache-Control": "no-store"})


@router.get("/oauth/userinfo")
async def claims(caller: SignedIn, base_url: BaseUrl) -> dict[str, Any]:
    return userinfo(caller.user, base_url)


def _refuse(status: int, error: str) -> JSONResponse:
    headers = {"Cache-Control": "no-store"}
    if status == 401:
        headers["WWW-Authenticate"] = 'Basic realm="local hub"'
    return JSONResponse({"error": error}, status, headers)


def _basic_credentials(authorization: str) -> tuple[str, str]:
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        client_id, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return "", ""
    return unquote_plus(client_id), unquote_plus(secret)
