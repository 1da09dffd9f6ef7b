"""The six steps in a browser: real sign-in, real containers, a model that is really trained."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from local.stack import Stack
from tests.browser import Tab, started
from tests.e2e.conftest import CHALLENGE

pytestmark = [pytest.mark.browser, pytest.mark.docker]

RUN_PATIENCE = 400_000  # milliseconds
STAGES = ["setup", "snapshot", "gate", "baseline", "sft", "grpo", "final", "report"]


@pytest.fixture
def browser(chromium: str) -> Iterator[Browser]:
    with started(chromium) as browser:
        yield browser


def test_from_a_collection_to_the_commons(browser: Browser, stack: Stack) -> None:
    author = Tab.opened(browser, stack.options.url, stack.options.hub_url)
    editor = Tab.opened(browser, stack.options.url, stack.options.hub_url)

    author.go("/submit")
    author.sign_in("author")

    author.fill("source", "hf:author/example-collection@main")
    author.fill("title", "By browser")
    author.page.click("#submit")
    author.page.wait_for_url("**/submission?id=*")
    expect(author.page.locator(".stages li.done")).to_have_count(3)
    author.state("valid")

    author.page.click("#launch")
    author.page.wait_for_url("**/run?id=*")
    run = author.page.url.removeprefix(author.url)
    expect(author.page.locator("#run")).to_contain_text(re.compile("Place 1 in the queue|Worker "))

    gate = author.page.locator(".stages li", has_text="gate")
    expect(gate).to_have_class("done", timeout=RUN_PATIENCE)
    expect(author.page.locator(".figures")).to_contain_text("pp", timeout=RUN_PATIENCE)
    stages = author.page.locator(".stages li")
    assert [text.split()[0] for text in stages.all_inner_texts()] == STAGES
    expect(author.page.locator(".stages li.done")).to_have_count(len(STAGES))
    change = author.page.locator(".figure").nth(2).inner_text().removesuffix(" pp")
    assert re.fullmatch(r"[+−]\d+\.\d|0\.0", change)
    expect(author.page.locator("h2", has_text="By domain")).to_be_visible()
    tasks = author.page.locator("table", has=author.page.locator("th", has_text="Task"))
    expect(tasks.last.locator("tbody tr")).to_have_count(2)

    editor.go("/admin")
    editor.sign_in("editor")
    editor.page.locator("#admin tr", has_text="By browser").locator("a").first.click()
    editor.page.wait_for_url(f"**{run}")
    editor.fill("reason", "The gate passed and the numbers hold.")
    editor.page.click("#accept")
    editor.state("accepted")

    author.go(f"/leaderboard?challenge={CHALLENGE}")
    row = author.page.locator("#leaderboard tr", has_text="By browser")
    expect(row).to_contain_text(change)
    expect(row).to_contain_text("1 of 1")
    expect(editor.page.locator(".facts")).to_contain_text("arena/commons/collections/")
    author.go("/commons")
    expect(author.page.locator("table")).to_contain_text("By browser")
    assert author.problems + editor.problems == []
