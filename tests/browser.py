"""A real browser for tests: Chromium by Playwright, and what the tests do in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, expect, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 20_000  # milliseconds; the machines of tests are slow and shared


@contextmanager
def started(chromium: str) -> Iterator[Browser]:
    """Chromium, headless, until the block ends."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Tab:
    """A page of one arena in a session of its own, and what went wrong in it."""

    page: Page
    url: str
    hub_url: str
    problems: list[str] = field(default_factory=list)

    @classmethod
    def opened(cls, browser: Browser, url: str, hub_url: str, width: int = 1280) -> Tab:
        """A new session: no cookie, nothing stored."""
        context = browser.new_context(viewport={"width": width, "height": 900})
        context.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        tab = cls(context.new_page(), url, hub_url)
        tab.page.on("request", lambda request: tab._on_request(request.url))
        tab.page.on("pageerror", lambda error: tab.problems.append(f"fault: {error}"))
        tab.page.on("dialog", lambda dialog: tab.problems.append(f"dialog: {dialog.message}"))
        tab.page.on(
            "console",
            lambda message: tab._on_console(message.type, message.text, message.location["url"]),
        )
        return tab

    def go(self, path: str) -> None:
        """Opens an address, and waits until the page asks for nothing more."""
        self.page.goto(self.url + path)
        self.page.wait_for_load_state("networkidle")

    def sign_in(self, account: str) -> None:
        """Signs in by the button and the hub's page; ends where it began."""
        before = self.page.url
        self.page.click("#sign-in")
        self.page.click(f"button[value={account}]")
        expect(self.page.locator("#sign-in")).to_contain_text(account)
        assert self.page.url == before
        self.page.wait_for_load_state("networkidle")

    def sign_out(self) -> None:
        """Signs out by the button."""
        self.page.click("#sign-in")
        expect(self.page.locator("#sign-in")).to_contain_text("Sign in")
        self.page.wait_for_load_state("networkidle")

    def fill(self, name: str, text: str) -> None:
        """Types into a field."""
        self.page.fill(f"#{name} input, #{name} textarea", text)

    def value(self, name: str) -> str:
        """What stands in a field."""
        return self.page.locator(f"#{name} input, #{name} textarea").first.input_value()

    def error(self) -> str:
        """The text of the error that is shown."""
        box = self.page.locator(".box.bad")
        expect(box).to_be_visible()
        return box.inner_text()

    def state(self, name: str) -> None:
        """Waits for the page's subject to be in a state."""
        expect(self.page.locator("h1 .state")).to_have_text(name)

    def _on_request(self, url: str) -> None:
        if url.startswith("http") and _origin(url) not in (self.url, self.hub_url):
            self.problems.append(f"third party: {url}")

    def _on_console(self, kind: str, text: str, place: str) -> None:
        if kind == "error" and _origin(place) != self.hub_url:
            self.problems.append(f"console: {text} ({place})")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
