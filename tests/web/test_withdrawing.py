"""Withdrawing on the submission's page; settling a claim on the editors' page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser import Tab
from tests.web.conftest import Site
from tests.web.test_whole_way import TITLE, submit

pytestmark = pytest.mark.browser


def test_an_author_withdraws_with_a_reason(open_tab: Callable[..., Tab], site: Site) -> None:
    author, reader = open_tab(), open_tab(360)
    path = submit(author, site.collection(), "To be withdrawn")
    expect(author.page.locator("#conditions")).to_contain_text("A run can be launched")
    author.page.click("#launch")
    author.page.wait_for_url("**/run?id=*")
    run = author.page.url.removeprefix(author.url)
    author.go(path)
    told = author.page.locator("#conditions")
    expect(told).to_contain_text("A run can't be launched now: 1 of")
    expect(told.locator("tr", has_text="fail")).to_contain_text("arena run show run_")
    expect(author.page.locator("#withdraw")).to_be_hidden()  # folded: it is rarely wanted
    author.page.click("#withdrawing button")
    author.page.click("#withdraw")
    assert "reason_required" in author.error()
    author.fill("reason", TITLE)
    author.page.click("#withdraw")
    author.state("withdrawn")
    expect(author.page.locator("#withdrawn")).to_contain_text(TITLE)
    expect(author.page.locator("#withdrawing")).to_be_hidden()
    expect(author.page.locator("#launch")).to_be_hidden()
    reader.go(run)
    reader.state("cancelled")
    expect(reader.page.locator("#run")).to_contain_text("The collection was withdrawn by author")
    reader.go(path)
    reader.state("withdrawn")
    assert reader.page.locator("img[src=x]").count() == 0


def test_others_find_no_way_to_withdraw(open_tab: Callable[..., Tab], site: Site) -> None:
    author, rival = open_tab(), open_tab()
    path = submit(author, site.collection(), "Stays")
    rival.go(path)
    expect(rival.page.locator("#withdrawing")).to_be_hidden()
    rival.sign_in("rival")
    expect(rival.page.locator("#withdrawing")).to_be_hidden()


def test_an_editor_settles_a_claim(open_tab: Callable[..., Tab], site: Site) -> None:
    author, editor = open_tab(), open_tab()
    path = submit(author, site.collection(), "Claimed")
    editor.go("/admin")
    editor.sign_in("editor")
    editor.fill("claimed", path.rpartition("=")[2])
    editor.fill("claimant", "rival")
    editor.page.click("#settle")
    assert "reason_required" in editor.error()
    assert editor.value("claimant") == "rival"
    editor.fill("claim-reason", TITLE)
    editor.page.click("#settle")
    expect(editor.page.locator("#claims")).to_contain_text(TITLE)
    expect(editor.page.locator("#claims")).to_contain_text("rival")
    author.go(path)
    expect(author.page.locator("body")).to_contain_text("A claim was settled: it is rival's.")
    expect(author.page.locator("#launch")).to_be_hidden()
    expect(author.page.locator("#withdrawing")).to_be_hidden()
