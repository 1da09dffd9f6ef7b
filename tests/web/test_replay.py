"""A replay on the page of its submission: waiting, under way, done; what was said is only text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser import Tab
from tests.web.conftest import Site
from tests.web.test_whole_way import submit
from tests.web.worker import ScriptedWorker

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)></pre><script>alert(2)</script> {{7*7}} &lt;b&gt;"


def failing(reason: str, said: str) -> dict[str, Any]:
    """An oracle that fails, with what it wrote."""
    return {
        "verdict": "oracle fails",
        "reason": reason,
        "oracle": 0.0,
        "said": [{"who": f"oracle {HOSTILE[:40]}", "text": said}],
    }


def test_a_replay_is_followed_to_its_badges(open_tab: Callable[..., Tab], site: Site) -> None:
    worker = ScriptedWorker(site.url)
    worker.ask()
    tab = open_tab()
    path = submit(tab, site.collection(), "Replayed")
    shown = httpx.get(f"{site.url}/api/v1/submissions/{path.rpartition('=')[2]}").json()
    names = [package["name"] for package in shown["submission"]["package_rows"]]
    expect(tab.page.locator("#replay")).to_contain_text("Waiting for a replay")

    lease = worker.ask_replay(shown["submission"]["id"])
    worker.hand_back(lease, HOSTILE)
    expect(tab.page.locator("#replay")).to_contain_text("waits for the engine")
    expect(tab.page.locator("#replay")).to_contain_text(HOSTILE)
    lease = worker.ask_replay(lease.submission)
    worker.beat_replay(lease, 3)
    expect(tab.page.locator("#replay")).to_contain_text("3 of 4 packages done")

    said = f"\x1b[31m{HOSTILE}\x00\u202egnp.exe"
    worker.report_replay(lease, names, {names[1]: failing(HOSTILE, said)})
    expect(tab.page.locator("#replay")).to_contain_text("3 of 4 oracles proven")
    expect(tab.page.locator(".badge.good", has_text="oracle proven")).to_have_count(3)
    expect(tab.page.locator(".badge.bad")).to_have_text("oracle fails")
    tab.page.click(".why summary")
    why = tab.page.locator(".why pre")
    expect(why).to_be_visible()
    assert why.inner_text() == f"\\x1b[31m{HOSTILE}\\x00\\u202egnp.exe"
    assert tab.page.locator("img[src=x]").count() == 0
    expect(tab.page.locator("#launch")).to_be_visible()  # the gate decides, not the replay

    tab.page.set_viewport_size({"width": 390, "height": 900})
    for part in (".packages .explained", ".why"):
        box = tab.page.locator(part).bounding_box()
        assert box
        assert box["x"] + box["width"] <= 390, "on a phone a verdict is read without scrolling"


def test_a_fold_stays_open_while_a_run_goes_on(open_tab: Callable[..., Tab], site: Site) -> None:
    worker = ScriptedWorker(site.url)
    worker.ask()
    tab = open_tab()
    path = submit(tab, site.collection(), "Unfolded")
    lease = worker.ask_replay(path.rpartition("=")[2])
    shown = httpx.get(f"{site.url}/api/v1/submissions/{lease.submission}").json()["submission"]
    names = [package["name"] for package in shown["package_rows"]]
    worker.report_replay(lease, names, {names[0]: failing("It scores 0.", "Nothing found.")})
    tab.page.click("#launch")
    tab.page.wait_for_url("**/run?id=*")
    assert worker.ask() is not None
    tab.go(path)
    tab.page.click(".why summary")
    worker.beat("gate", 3, 4)
    expect(tab.page.locator("table", has_text="gate 3/4")).to_be_visible()
    expect(tab.page.locator(".why pre")).to_be_visible()
    worker.report(0.25, 0.5)
