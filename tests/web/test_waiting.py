"""Waiting by the pages: for a source that met a limit, and for a commit; each goes on by itself."""

from __future__ import annotations

import re
import shutil

import pytest
from playwright.sync_api import expect
from starlette.responses import Response

from tests.browser import Tab
from tests.collections import write_collection
from tests.web.conftest import Site

pytestmark = pytest.mark.browser


def test_a_submission_waits_says_until_when_and_goes_on(tab: Tab, site: Site) -> None:
    repo = site.github.create("Lab/waits")
    folder = write_collection(site.folder / "waits", 4, "waits")
    shutil.copytree(folder, repo.folder, dirs_exist_ok=True)
    repo.commit({"submission.yaml": "members: [author]\n"})
    site.github.archives_refuse = Response("", 429, {"Retry-After": "20"})
    tab.go("/submit")
    expect(tab.page.locator(".sources dt")).to_have_count(2)
    tab.sign_in("author")
    tab.fill("source", "github:Lab/waits@main")
    tab.fill("title", "From GitHub")
    tab.page.click("#submit")
    tab.page.wait_for_url(re.compile("/submission"))
    tab.state("waiting")
    until = re.compile(r"until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")
    expect(tab.page.locator("#waiting")).to_contain_text(until)
    expect(tab.page.locator("#waiting")).to_contain_text("GitHub")
    address = tab.page.url
    tab.go("/status")
    expect(tab.page.locator("tr:has-text('From GitHub')")).to_contain_text(until)
    site.github.archives_refuse = None
    tab.page.goto(address)
    expect(tab.page.locator("h1 .state")).to_have_text("valid", timeout=60_000)
    expect(tab.page.locator("#waiting")).to_have_count(0)
    link = tab.page.locator("a[href^='https://github.com/']")
    commit = repo.git("rev-parse", "HEAD")
    expect(link).to_have_attribute("href", f"https://github.com/Lab/waits/tree/{commit}")


def test_a_write_that_waits_for_its_commit_says_so(tab: Tab, site: Site) -> None:
    tab.go("/submit")
    tab.sign_in("author")
    tab.fill("source", site.collection())
    tab.fill("title", "Waits for its commit")
    site.hub.make_faults({"kind": "hang", "match": "POST .*/results/commit/", "seconds": 8})
    tab.page.click("#submit")
    line = tab.page.locator("#submit + [role=status]")
    expect(line).to_have_text("1 write waits to be recorded; the next commit is under way.")
    tab.page.wait_for_url(re.compile("/submission"))
    tab.state("valid")
