"""Signing in and out by the real OAuth pages, and what the session's cookie is good for."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from typing import Any

import httpx
import itsdangerous
import pytest
from playwright.sync_api import expect

from tests.browser import Tab
from tests.hub import CLIENT_SECRET
from tests.web.conftest import Site

pytestmark = pytest.mark.browser

SIGNER = itsdangerous.TimestampSigner(
    hashlib.sha256(f"{CLIENT_SECRET}-v4".encode()).hexdigest()  # as Gradio makes it
)


def cookie(tab: Tab) -> Any:
    """The session's cookie, as Playwright gives and takes it."""
    return next(c for c in tab.page.context.cookies() if c["name"] == "session")


def test_signing_in_comes_back_and_signing_out_ends_it(tab: Tab) -> None:
    tab.go("/leaderboard?challenge=demo")
    tab.sign_in("author")
    tab.go("/status")
    expect(tab.page.locator("#whose")).to_be_visible()
    tab.sign_out()
    assert tab.page.url == f"{tab.url}/status"
    expect(tab.page.locator("#whose")).to_be_hidden()


def test_the_cookie_is_slim(tab: Tab) -> None:
    tab.go("/")
    tab.sign_in("editor")
    value = cookie(tab)["value"]
    session = json.loads(b64decode(SIGNER.unsign(value)))
    assert len(value) < 1500
    assert set(session) == {"oauth_info"}
    assert set(session["oauth_info"]) == {"access_token", "scope", "expires_at", "userinfo"}


def test_a_copied_cookie_is_worth_nothing_after_signing_out(tab: Tab) -> None:
    tab.go("/admin")
    tab.sign_in("editor")
    copied = cookie(tab)
    tab.sign_out()
    tab.page.context.add_cookies([copied])
    tab.go("/admin")
    assert "sign_in_required" in tab.error()


def test_an_expired_session_is_signed_out(tab: Tab) -> None:
    tab.go("/admin")
    tab.sign_in("editor")
    expect(tab.page.locator("#admin h2").first).to_be_visible()
    expired = cookie(tab)
    session = json.loads(b64decode(SIGNER.unsign(expired["value"])))
    session["oauth_info"]["expires_at"] = 1
    content = b64encode(json.dumps(session).encode())
    tab.page.context.add_cookies([{**expired, "value": SIGNER.sign(content).decode()}])
    tab.page.fill("#reason textarea", "Too late.")
    tab.page.click("#paused")
    assert "sign_in_required" in tab.error()
    assert tab.value("reason") == "Too late."


def test_denied_consent_is_said_and_leads_back(tab: Tab) -> None:
    tab.go("/submit")
    tab.page.click("#sign-in")
    tab.page.click("button[value='']")
    assert "sign_in_refused" in tab.error()
    tab.page.click("text=Back")
    expect(tab.page.locator("#submit")).to_be_visible()
    tab.problems.clear()  # a browser counts the refusal's 403 among its errors


def test_other_sites_are_let_in_nowhere(site: Site) -> None:
    for path in ("/", "/config", "/gradio_api/info", "/api/v1/challenges"):
        for origin in ("https://evil.example", "null", "http://localhost:1234"):
            answer = httpx.get(site.url + path, headers={"Origin": origin})
            assert "access-control-allow-origin" not in answer.headers
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    assert httpx.options(f"{site.url}/gradio_api/run/predict", headers=asked).status_code == 400
