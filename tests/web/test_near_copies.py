"""Near copies on pages: the author's own lines, and what editors alone see."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import Tab
from tests.nearcopies.published import publish_like_the_suite, reworded, with_other_names
from tests.web.conftest import Site
from tests.web.test_whole_way import submit
from tests.web.worker import ScriptedWorker

pytestmark = pytest.mark.browser


def test_the_author_sees_which_own_lines_matched(
    open_tab: Callable[..., Tab], site: Site, tmp_path: Path
) -> None:
    author = open_tab()
    author.go("/submit")
    author.sign_in("author")
    author.fill("source", publish_like_the_suite(site.hub, tmp_path, with_other_names))
    author.fill("title", "Like the suite")
    author.page.click("#submit")
    author.page.wait_for_url("**/submission?id=*")
    author.state("invalid")
    expect(author.page.locator("#copies tbody tr")).to_have_count(2)
    expect(author.page.locator("#copies")).to_contain_text("lantern")
    expect(author.page.locator("[role=alert]")).to_contain_text("near_copy")


def test_editors_alone_see_suspects(
    open_tab: Callable[..., Tab], site: Site, tmp_path: Path
) -> None:
    worker = ScriptedWorker(site.url)
    worker.ask()
    author, editor = open_tab(), open_tab()
    submit(author, publish_like_the_suite(site.hub, tmp_path, reworded), "Suspicious")
    author.page.click("#launch")
    author.page.wait_for_url("**/run?id=*")
    run = author.page.url.removeprefix(author.url)
    assert worker.ask() is not None
    worker.end("setup", "snapshot")
    worker.report(0.25, 0.5)
    author.state("scored")
    expect(author.page.locator("#suspects")).to_have_count(0)
    editor.go(run)
    editor.sign_in("editor")
    expect(editor.page.locator("#suspects tbody tr")).to_have_count(4)
    expect(editor.page.locator("#suspects")).to_contain_text("my-own-0")
