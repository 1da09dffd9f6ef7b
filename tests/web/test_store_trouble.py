"""A store that takes nothing, or can't be read: each page says so, and nothing typed is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser import Tab, started
from tests.web.conftest import ROOT, Site, running_site
from tests.web.test_whole_way import submit
from tests.web.worker import ScriptedWorker

pytestmark = pytest.mark.browser

REFUSED = {
    "kind": "refuse",
    "match": "/datasets/arena/results/(commit/|auth-check/write)",
    "status": 403,
    "times": 500,
}
TYPED = "What was typed"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """An app of its own: the others' would be read-only meanwhile."""
    with running_site(tmp_path_factory.mktemp("trouble")) as site:
        yield site


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with started(chromium) as browser:
        yield browser


def test_each_page_says_that_nothing_was_recorded_beside_what_was_typed(
    open_tab: Callable[..., Tab], site: Site
) -> None:
    worker = ScriptedWorker(site.url)
    worker.ask()
    author, editor, reader = open_tab(), open_tab(), open_tab(390)
    submission = submit(author, site.collection(), "Kept")
    author.page.click("#launch")
    author.page.wait_for_url("**/run?id=*")
    scored = author.page.url.removeprefix(site.url)
    worker.ask()
    worker.report(0.25, 0.5)
    author.go(submission)
    author.page.click("#launch")
    author.page.wait_for_url("**/run?id=*")
    queued = author.page.url.removeprefix(site.url)
    editor.go("/admin")
    editor.sign_in("editor")
    source = site.collection()

    site.hub.make_faults(REFUSED)
    author.go("/submit")
    refused(author, "#submit", "#error", source=source, title=TYPED)
    author.go(queued)
    refused(author, "#cancel", "#error", reason=TYPED)
    author.go(submission)
    refused(author, "#launch", "#error")
    author.page.click("#withdrawing button")
    refused(author, "#withdraw", "#refused", reason=TYPED)
    editor.go(scored)
    refused(editor, "#accept", "#error", reason=TYPED)
    refused(editor, "#reject", "#error", reason=TYPED)
    editor.go("/admin")
    refused(editor, "#paused", "#error", reason=TYPED)
    claim = {"claimed": submission.rpartition("=")[2], "claimant": "rival", "claim-reason": TYPED}
    refused(editor, "#settle", "#claim-error", **claim)

    editor.go("/admin")
    expect(editor.page.locator("#health h2 .state")).to_have_text("degraded")
    expect(editor.page.locator("#health .facts")).to_contain_text("read-only")
    for name, text in claim.items():
        editor.fill(name, text)
    reader.go("/")
    expect(reader.page.locator("#trouble")).to_contain_text("Read-only.")
    site.hub.make_faults()
    expect(reader.page.locator("#trouble")).to_have_count(0)  # the page follows it
    editor.page.click("#settle")
    expect(editor.page.locator("#claims")).to_contain_text(TYPED)


def refused(tab: Tab, button: str, box: str, **typed: str) -> None:
    """Presses a button, and is told beside what was typed."""
    for name, text in typed.items():
        tab.fill(name, text)
    tab.page.click(button)
    expect(tab.page.locator(f"{box} .box.bad")).to_contain_text("not_recorded")
    expect(tab.page.locator(f"{box} .box.bad")).to_contain_text("Nothing was recorded")
    assert {name: tab.value(name) for name in typed} == typed
    assert tab.page.locator(".toast-body").count() == 0


@pytest.mark.parametrize("command", ["submit", "validate"])
def test_who_waits_on_the_command_line_outlives_a_killed_app(site: Site, command: str) -> None:
    env = {**os.environ, "ARENA_URL": site.url, "HF_TOKEN": "hf_author"}
    more = ["--title", "Killed", "--wait"] if command == "submit" else []
    arguments = [sys.executable, "-m", "arena", command, site.collection(), *more, "--json"]
    # the check is held up until the app is gone
    site.hub.make_faults({"kind": "hang", "match": "tree/", "seconds": 20, "times": 1})
    waiting = subprocess.Popen(arguments, env=env, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    while site.hub.faults_left():
        time.sleep(0.1)
    time.sleep(2)  # it was told the id, and follows
    site.app.popen.kill()
    site.app.popen.wait()
    time.sleep(8)  # longer than one call is tried
    site.start_app()
    out, _ = waiting.communicate(timeout=120)
    assert (waiting.returncode, json.loads(out)["ok"]) == (0, True)


PAGES = [
    ("/", "#trouble"),
    ("/status", ".box.bad"),
    ("/leaderboard", ".box.bad"),
    ("/runs", ".box.bad"),
    ("/commons", ".box.bad"),
    ("/history?id=demo", ".box.bad"),
    ("/run?id=run_x", ".box.bad"),
    ("/submission?id=sub_x", ".box.bad"),
]


def test_a_store_that_was_never_read_is_told_on_each_page_and_read_once_it_can_be(
    open_tab: Callable[..., Tab], site: Site
) -> None:
    tab = open_tab(390)
    site.app.stop()
    # the whole hub would be too much: signing in needs it
    silent = {"kind": "refuse", "match": "/datasets/arena/results", "status": 503, "times": 100_000}
    site.hub.make_faults(silent)
    site.start_app(ARENA_DATA=str(site.folder / "nothing-kept"))
    for path, box in PAGES:
        tab.go(path)
        expect(tab.page.locator(box).first).to_contain_text("status 503")
        assert tab.page.locator(".toast-body").count() == 0
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert tab.page.evaluate(overflow) <= 0, path
    found = httpx.get(f"{site.url}/healthz")
    assert (found.status_code, found.json()["error"]["code"]) == (503, "store_unavailable")
    assert "arena_requests_total" in httpx.get(f"{site.url}/metrics").text
    tab.go("/")
    site.hub.make_faults()
    expect(tab.page.locator("#trouble")).to_have_count(0)
    expect(tab.page.locator(".card")).to_contain_text("Demo")
