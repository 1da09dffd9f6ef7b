"""The form: what is wrong is said beside what was typed, as REST says it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import Tab
from tests.web.conftest import Site

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("account", "source", "title", "code"),
    [
        (None, "hf:author/example-collection@main", "T", "sign_in_required"),
        ("author", "nonsense", "T", "bad_source"),
        ("author", "hf:author/nothing@main", "T", "source_not_found"),
        ("author", "hf:author/example-collection@nope", "T", "revision_not_found"),
        ("author", "hf:author/example-collection@main", "", "bad_request"),
        ("rival", "hf:author/example-collection@main", "<b>T</b>", "not_yours"),
    ],
)
def test_an_error_is_the_one_of_rest_and_keeps_what_was_typed(
    tab: Tab, site: Site, account: str | None, source: str, title: str, code: str
) -> None:
    tab.go("/submit")
    if account:
        tab.sign_in(account)
    tab.fill("source", source)
    tab.fill("title", title)
    tab.page.click("#submit")
    shown = tab.error()
    expected = site.api_error(account, "/submissions", {"source": source, "title": title})
    assert expected["code"] == code
    for text in expected.values():
        assert text in shown
    assert (tab.value("source"), tab.value("title")) == (source, title)


def test_what_was_typed_outlives_signing_in(tab: Tab) -> None:
    tab.go("/submit")
    tab.fill("source", "hf:author/example-collection@main")
    tab.fill("title", "Kept")
    tab.page.click("#submit")
    assert "sign_in_required" in tab.error()
    tab.sign_in("author")
    assert tab.value("source") == "hf:author/example-collection@main"
    assert tab.value("title") == "Kept"


def test_findings_name_code_place_and_mending(tab: Tab, site: Site) -> None:
    source = site.collection({"broken/task.md": "---\nversion: <b>\n---\nNo prompt."})
    tab.go("/submit")
    tab.sign_in("author")
    tab.fill("source", source)
    tab.fill("title", "Broken")
    tab.page.click("#submit")
    tab.page.wait_for_url("**/submission?id=*")
    tab.state("invalid")
    rows = tab.page.locator("table").first.locator("tbody tr")
    expect(rows.first).to_contain_text("TP")
    expect(rows.filter(has_text="broken/task.md").first).to_be_visible()
    assert "Mend them" in tab.error()
    tab.page.set_viewport_size({"width": 390, "height": 900})
    narrow = rows.first.bounding_box()
    assert narrow
    assert narrow["width"] <= 390, "on a phone a finding is read without scrolling"
