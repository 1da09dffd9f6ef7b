"""Every page by its address: opened, reloaded, narrow; and addresses where nothing is."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser import Tab
from tests.web.conftest import Site

pytestmark = pytest.mark.browser

PAGES = {
    "/": "PostTrain Arena",
    "/submit": "Submit a collection",
    "/status": "Submissions",
    "/leaderboard?challenge=demo": "Leaderboard",
    "/runs": "Runs",
    "/commons": "Commons",
    "/docs": "PostTrain Arena",
    "/admin": "Admin",
}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_opens_and_reloads(open_tab: Callable[..., Tab], path: str) -> None:
    for width in (1280, 360):
        tab = open_tab(width)
        tab.go(path)
        expect(tab.page.locator("h1").first).to_have_text(PAGES[path])
        tab.page.reload()
        tab.page.wait_for_load_state("networkidle")
        expect(tab.page.locator("h1").first).to_have_text(PAGES[path])
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert tab.page.evaluate(overflow) <= 0


def test_the_tabs_lead_to_the_pages(tab: Tab) -> None:
    tab.go("/")
    names = tab.page.locator(".nav-holder a").all_inner_texts()
    assert names == [
        "Arena", "Submit", "Status", "Leaderboard", "Runs", "Commons", "Docs", "Admin",
    ]  # fmt: skip
    tab.page.click(".nav-holder a:has-text('Commons')")
    tab.page.wait_for_url(f"{tab.url}/commons")
    tab.page.wait_for_load_state("networkidle")


def test_the_front_page_says_how_a_challenge_is(tab: Tab) -> None:
    tab.go("/")
    card = tab.page.locator(".card")
    expect(card).to_contain_text("open")
    expect(card).to_contain_text("Takes runs.")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/submission?id=sub_nothing", "unknown_submission"),
        ("/run?id=%3Cimg%20src=x%3E", "unknown_run"),
        ("/leaderboard?challenge=nothing", "unknown_challenge"),
    ],
)
def test_an_unknown_id_is_an_error_with_its_next_step(tab: Tab, path: str, code: str) -> None:
    tab.go(path)
    assert code in tab.error()
    assert "Next:" in tab.error()


def test_an_address_where_nothing_is(site: Site) -> None:
    page = httpx.get(f"{site.url}/nothing-here", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "not_found" in page.text
    assert page.headers["content-type"].startswith("text/html")
    api = httpx.get(f"{site.url}/api/v1/nothing-here", headers={"Accept": "text/html"})
    assert api.json()["error"]["code"] == "not_found"


def test_others_than_editors_are_told_so(tab: Tab) -> None:
    tab.go("/admin")
    assert "sign_in_required" in tab.error()
    tab.sign_in("rival")
    assert "not_editor" in tab.error()
    expect(tab.page.locator("#paused")).to_be_hidden()


def test_the_answers_carry_headers_that_narrow(site: Site) -> None:
    headers = httpx.get(site.url).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors" in headers["content-security-policy"]
