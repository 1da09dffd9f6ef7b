"""The pages of the documentation lead to each other, and to nothing that is not there."""

from __future__ import annotations

import re

import pytest

from arena.web.pages.docs import _linked, _pages, _text
from tests.browser import Tab
from tests.web.conftest import Site


@pytest.mark.parametrize("name", _pages())
def test_every_link_of_a_page_leads_to_a_page(name: str) -> None:
    pages = _pages()
    text = _linked(_text(pages[name]), pages, name)
    for target in re.findall(r"\]\((?!https?:|#)([^)\s]+)\)", text):
        page = re.fullmatch(r"/docs\?page=([\w-]+)(#[\w-]+)?", target)
        assert page is not None, target
        assert page[1] in pages


def test_the_readme_leads_to_the_starting_kit() -> None:
    pages = _pages()
    readme = _linked(_text(pages["README"]), pages, "README")
    assert "[starting kit](/docs?page=starting-kit)" in readme
    kit = _linked(_text(pages["starting-kit"]), pages, "starting-kit")
    assert "room-booking-clashes |" in kit
    assert "](examples" not in kit


@pytest.mark.browser
def test_tables_break_no_word_and_the_page_does_not_scroll_sideways(
    open_tab: object, site: Site
) -> None:
    assert callable(open_tab)
    tab: Tab = open_tab(390)
    tab.go("/docs?page=fields")
    tab.page.wait_for_selector(".docs table")
    width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert tab.page.evaluate(width) <= 0
    heading = tab.page.locator(".docs th").first.bounding_box()
    assert heading is not None
    assert heading["height"] < 45
