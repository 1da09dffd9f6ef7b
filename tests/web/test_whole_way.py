"""From a submission to the leaderboard in a browser, a scripted worker in the trainer's place.

Its title is an attack: wherever it is shown, it is shown as text.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from arena.web.layout import LIVE_SECONDS
from tests.browser import Tab
from tests.web.conftest import Site
from tests.web.worker import ScriptedWorker

pytestmark = pytest.mark.browser

TITLE = "<img src=x onerror=alert(1)> {{value}} ${1+1}"


def submit(tab: Tab, source: str, title: str) -> str:
    """Enters a collection as `author`; gives the path of its page, once it is valid."""
    tab.go("/submit")
    tab.sign_in("author")
    tab.fill("source", source)
    tab.fill("title", title)
    tab.page.click("#submit")
    tab.page.wait_for_url("**/submission?id=*")
    tab.state("valid")
    return tab.page.url.removeprefix(tab.url)


def test_a_result_reaches_the_leaderboard(open_tab: Callable[..., Tab], site: Site) -> None:
    worker = ScriptedWorker(site.url)
    worker.ask()
    author, editor = open_tab(), open_tab()
    submission = submit(author, site.collection(), TITLE)
    expect(author.page.locator(".stages li.done")).to_have_count(3)

    author.page.click("#launch")
    author.page.wait_for_url("**/run?id=*")
    run = author.page.url.removeprefix(author.url)
    expect(author.page.locator("#run")).to_contain_text("Place 1 in the queue")
    expect(author.page.locator("#run")).to_contain_text("A worker is connected")
    assert worker.ask() is not None
    worker.end("setup", "snapshot")
    worker.beat("gate", 3, 12)
    expect(author.page.locator(".stages li.running")).to_contain_text("3/12")
    worker.say("gate", f"first: {TITLE}", "second: \x1b[2J")
    expect(author.page.locator("#said pre")).to_contain_text(f"gate first: {TITLE}")
    expect(author.page.locator("#said pre")).to_contain_text(r"second: \x1b[2J")
    worker.report(0.25, 0.5, gate_reason=TITLE)
    expect(author.page.locator(".figures")).to_contain_text("+25.0 pp")
    expect(author.page.locator("#accept")).to_be_hidden()

    editor.go("/admin")
    editor.sign_in("editor")
    expect(editor.page.locator("#admin")).to_contain_text(TITLE)
    editor.go(run)
    editor.page.click("#accept")
    assert "reason_required" in editor.error()
    editor.fill("reason", TITLE)
    editor.page.click("#accept")
    editor.state("accepted")
    expect(editor.page.locator(".reviews")).to_contain_text(TITLE)
    expect(editor.page.locator(".facts")).to_contain_text("commons")

    for path in ("/", "/leaderboard", "/commons", "/runs", "/status", submission, run):
        author.go(path)
        expect(author.page.locator("body")).to_contain_text(TITLE)
        assert author.page.locator("img[src=x]").count() == 0
    author.go("/leaderboard")
    expect(author.page.locator("#leaderboard tbody tr").first).to_contain_text("+25.0")


def test_a_run_is_cancelled_and_a_paused_challenge_says_why(
    open_tab: Callable[..., Tab], site: Site
) -> None:
    author, editor = open_tab(), open_tab()
    submission = submit(author, site.collection(), "To be cancelled")
    author.page.click("#launch")
    author.page.wait_for_url("**/run?id=*")
    author.go(submission)
    author.page.wait_for_timeout(
        3 * LIVE_SECONDS * 1000
    )  # it follows the run, and shows itself anew
    expect(author.page.locator("#launch")).to_be_visible()
    expect(author.page.locator("#going")).to_be_hidden()
    author.page.go_back()
    author.page.click("#cancel")
    assert "reason_required" in author.error()
    author.fill("reason", "Entered by mistake.")
    author.page.click("#cancel")
    author.state("cancelled")
    assert "Entered by mistake." in author.error()

    editor.go("/admin")
    editor.sign_in("editor")
    editor.fill("reason", "The machine is moved.")
    editor.page.click("#paused")
    expect(editor.page.locator("#admin")).to_contain_text("The machine is moved.")
    author.go("/")
    expect(author.page.locator(".card")).to_contain_text("Takes no runs: paused")
    author.go("/submit")
    assert (author.value("source"), author.value("title")) == ("", "")  # entered, so not kept
    author.go(submission)
    author.page.click("#launch")
    assert "challenge_not_open" in author.error()
    editor.fill("reason", "It is back.")
    editor.page.click("#open")
    expect(editor.page.locator("#admin")).to_contain_text("It is back.")
