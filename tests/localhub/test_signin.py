"""The OpenID flow, from the button to the profile, and each way it can go wrong."""

import base64
import hashlib
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx
import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.hub import CLIENT_ID, CLIENT_SECRET, RunningHub

CALLBACK = "http://127.0.0.1:7860/login/callback?_target_url=/submit"
BASIC = (CLIENT_ID, CLIENT_SECRET)


def request(**changes: str) -> dict[str, str]:
    usual = {
        "client_id": CLIENT_ID,
        "redirect_uri": CALLBACK,
        "response_type": "code",
        "scope": "openid profile",
        "state": 'st"<ate',
        "nonce": "n-1",
    }
    return {**usual, **changes}


def choose(http: httpx.Client, user: str, **changes: str) -> dict[str, str]:
    """Answer the page and return the parameters that go back to the application."""
    answer = http.post("/oauth/authorize", data={**request(**changes), "user": user})
    assert answer.status_code == 302, answer.text
    place = answer.headers["location"]
    assert place.startswith(CALLBACK + "&")
    return {key: values[0] for key, values in parse_qs(urlsplit(place).query).items()}


def exchange(
    http: httpx.Client, code: str, auth: tuple[str, str] | None = BASIC, **changes: str
) -> httpx.Response:
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
    if auth is None:
        return http.post("/oauth/token", data={**form, **changes})
    return http.post("/oauth/token", data={**form, **changes}, auth=auth)


def sign_in(http: httpx.Client, user: str, **changes: str) -> dict[str, Any]:
    answer = exchange(http, choose(http, user, **changes)["code"])
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()
    return content


def test_discovery_names_addresses_that_answer(hub: RunningHub, http: httpx.Client) -> None:
    found = http.get("/.well-known/openid-configuration").json()
    assert found["issuer"] == hub.url
    assert http.get(found["jwks_uri"]).json()["keys"][0]["kty"] == "RSA"
    assert "d" not in http.get(found["jwks_uri"]).json()["keys"][0]


def test_the_page_says_who_asks_for_what_and_escapes_it(http: httpx.Client) -> None:
    page = http.get("/oauth/authorize", params=request())
    assert page.status_code == 200
    users = re.findall(r'<button name="user" value="([^"]*)"', page.text)
    assert users == ["author", "rival", "editor", "arena-bot", "arena-worker", ""]
    for text in (CLIENT_ID, "127.0.0.1:7860", "profile", "no password", "st&#34;&lt;ate"):
        assert text in page.text


def test_signing_in_gives_a_verifiable_identity(hub: RunningHub, http: httpx.Client) -> None:
    back = choose(http, "editor")
    assert back["state"] == 'st"<ate'
    tokens = exchange(http, back["code"]).json()
    assert tokens["expires_in"] >= 8 * 3600
    assert tokens["scope"] == "openid profile"
    keys = KeySet.import_key_set(http.get("/oauth/jwks").json())
    claims = jwt.decode(tokens["id_token"], keys).claims
    assert claims["iss"] == hub.url
    assert (claims["aud"], claims["nonce"]) == (CLIENT_ID, "n-1")
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    profile = http.get("/oauth/userinfo", headers=headers).json()
    assert profile["preferred_username"] == "editor"
    assert profile.items() <= claims.items()
    assert http.get(profile["picture"]).headers["content-type"].startswith("image/svg")
    assert http.get(profile["profile"]).status_code == 200
    whoami = HfApi(endpoint=hub.url, token=tokens["access_token"]).whoami()
    assert whoami["name"] == "editor"
    assert whoami["auth"]["type"] == "oauth"
    assert whoami["orgs"][0]["roleInOrg"] == "admin"


def test_a_session_reads_what_its_scopes_allow_and_writes_nothing(
    hub: RunningHub, author: HfApi, http: httpx.Client
) -> None:
    private = f"author/o-{uuid4().hex[:8]}"
    author.create_repo(private, repo_type="dataset", private=True)
    narrow = HfApi(endpoint=hub.url, token=sign_in(http, "author")["access_token"])
    assert not narrow.repo_exists(private, repo_type="dataset")
    wide_token = sign_in(http, "author", scope="openid profile read-repos")["access_token"]
    wide = HfApi(endpoint=hub.url, token=wide_token)
    assert wide.repo_exists(private, repo_type="dataset")
    with pytest.raises(HfHubHTTPError) as refused:
        wide.create_repo("author/by-session")
    assert refused.value.response.status_code == 403


def test_denied_consent_goes_back_as_an_error(http: httpx.Client) -> None:
    back = choose(http, "")
    assert back["error"] == "access_denied"
    assert back["state"] == 'st"<ate'
    assert "code" not in back


def test_a_code_works_once(http: httpx.Client) -> None:
    code = choose(http, "author")["code"]
    assert exchange(http, code).status_code == 200
    again = exchange(http, code)
    assert (again.status_code, again.json()) == (400, {"error": "invalid_grant"})
    assert exchange(http, "made-up").status_code == 400


def test_the_application_proves_itself(http: httpx.Client) -> None:
    code = choose(http, "author")["code"]
    for auth in ((CLIENT_ID, "wrong"), ("other", CLIENT_SECRET), None):
        answer = exchange(http, code, auth)
        assert (answer.status_code, answer.json()) == (401, {"error": "invalid_client"})
    posted = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    assert exchange(http, code, None, **posted).status_code == 200


def test_the_address_to_return_to_is_equal_at_both_steps(http: httpx.Client) -> None:
    code = choose(http, "author")["code"]
    answer = exchange(http, code, redirect_uri="http://127.0.0.1:7860/other")
    assert (answer.status_code, answer.json()) == (400, {"error": "invalid_grant"})


def test_pkce(http: httpx.Client) -> None:
    verifier = "v" * 43
    digest = hashlib.sha256(verifier.encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    asked = {"code_challenge": challenge, "code_challenge_method": "S256"}
    code = choose(http, "author", **asked)["code"]
    assert exchange(http, code, code_verifier="w" * 43).status_code == 400
    code = choose(http, "author", **asked)["code"]
    assert exchange(http, code).status_code == 400
    code = choose(http, "author", **asked)["code"]
    assert exchange(http, code, code_verifier=verifier).status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "other"},
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": "http://127.0.0.1.evil.example/"},
        {"redirect_uri": "http://127.0.0.1@evil.example/"},
        {"redirect_uri": "javascript:alert(1)//127.0.0.1"},
        {"redirect_uri": "http://[::1"},
        {"response_type": "token"},
        {"scope": "profile"},
        {"code_challenge": "x", "code_challenge_method": "plain"},
    ],
)
def test_a_request_that_cannot_be_trusted_ends_here(
    http: httpx.Client, changes: dict[str, str]
) -> None:
    assert http.get("/oauth/authorize", params=request(**changes)).status_code == 400
    form = {**request(**changes), "user": "author"}
    assert http.post("/oauth/authorize", data=form).status_code == 400


def test_consent_comes_from_this_page_and_for_an_account(http: httpx.Client) -> None:
    form = {**request(), "user": "author"}
    elsewhere = {"Origin": "https://evil.example"}
    assert http.post("/oauth/authorize", data=form, headers=elsewhere).status_code == 403
    form["user"] = "nobody"
    assert http.post("/oauth/authorize", data=form).status_code == 400
    assert http.get("/oauth/authorize").status_code == 400
    assert http.post("/oauth/token", content=b"\xff", auth=BASIC).status_code == 400


def test_a_restart_signs_nobody_out_and_keeps_no_token(
    own_hub: Callable[[], RunningHub],
) -> None:
    first = own_hub()
    with httpx.Client(base_url=first.url) as http:
        tokens = sign_in(http, "author")
        keys = http.get("/oauth/jwks").json()
    first.stop()
    for file in first.data.iterdir():
        if file.is_file():
            assert tokens["access_token"].encode() not in file.read_bytes()
            assert file.stat().st_mode & 0o077 == 0
    second = own_hub()
    assert HfApi(endpoint=second.url, token=tokens["access_token"]).whoami()["name"] == "author"
    assert httpx.get(f"{second.url}/oauth/jwks").json() == keys
