"""What an organizer sees of the running app: history, health, logs."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser import Tab
from tests.web.conftest import Site
from tests.web.test_whole_way import TITLE, submit

pytestmark = pytest.mark.browser


def test_history_stands_on_each_page_and_at_an_address_of_its_own(
    open_tab: Callable[..., Tab], site: Site
) -> None:
    author, phone = open_tab(), open_tab(360)
    path = submit(author, site.collection(), "Remembered")
    author.page.click("#launch")
    author.page.wait_for_url("**/run?id=*")
    run = author.page.url.removeprefix(author.url)
    author.fill("reason", TITLE)
    author.page.click("#cancel")
    author.state("cancelled")
    expect(author.page.locator("#history tbody tr")).to_have_count(2)
    expect(author.page.locator("#history")).to_contain_text(TITLE)
    author.go(path)
    expect(author.page.locator("#history tbody tr")).to_have_count(4)
    author.page.click(".facts a[href^='/history']")  # of the content
    expect(author.page.locator(".history tbody tr")).to_have_count(4)
    phone.go("/history?id=" + run.rpartition("=")[2])
    expect(phone.page.locator(".history")).to_contain_text(TITLE)
    assert phone.page.locator("img[src=x]").count() == 0
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert phone.page.evaluate(overflow) <= 0
    why = phone.page.locator(".history td", has_text=TITLE).bounding_box()
    assert why
    assert why["x"] + why["width"] <= 360, "on a phone the reason is read without scrolling"
    phone.go("/history?id=%3Cimg%20src=x%3E")
    assert "unknown_id" in phone.error()


def test_editors_see_health(tab: Tab) -> None:
    tab.go("/admin")
    tab.sign_in("editor")
    expect(tab.page.locator("#health h2 .state")).to_have_text("ok")
    expect(tab.page.locator("#health .facts")).to_contain_text("written and read")


def test_the_app_logs_json_lines_without_tokens(site: Site) -> None:
    httpx.get(
        f"{site.url}/api/v1/whoami",
        headers={"Authorization": "Bearer hf_author", "X-Request-Id": "to-be-found"},
    )
    text = (site.folder / "logs" / "app.log").read_text()
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert [line["status"] for line in lines if line.get("request") == "to-be-found"] == [200]
    assert "hf_author" not in text
    assert "access_token" not in text
