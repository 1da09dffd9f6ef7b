"""What every page needs: the service, the templates, and who is asking."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import gradio as gr

from arena import metrics
from arena.errors import ArenaError, SignInRequired
from arena.identity import Identity
from arena.service import Arena
from arena.web.rendering import Renderer

log = logging.getLogger(__name__)
Result = TypeVar("Result")

# How an event shows that it is under way: not at all, or lightly beside what it changes.
QUIET = {"show_progress": "hidden"}
BUSY = {"show_progress": "minimal"}
SHOWN = 200  # rows of a list that grows without end


@dataclass(frozen=True)
class Site:
    """The service and the templates, as the pages use them."""

    service: Arena
    render: Renderer

    def who(self, token: gr.OAuthToken | None) -> Identity:
        """Who acts.

        Raises:
            SignInRequired, InvalidToken, HubUnavailable.
        """
        if token is None:
            raise SignInRequired
        return self.service.identities.of(token.token, "session")

    def guest(self, token: gr.OAuthToken | None) -> Identity | None:
        """Who reads, if known: reading goes on where the Hub is out of reach."""
        try:
            return self.who(token)
        except ArenaError:
            return None

    def attempt(self, act: Callable[[], Result]) -> Result | ArenaError:
        """What `act` gives, or the error to be shown."""
        try:
            return act()
        except ArenaError as exc:
            error = exc
        except Exception:
            log.exception("a page met a fault")
            error = ArenaError()
        metrics.ERRORS.labels(error.code).inc()
        return error

    def error(self, error: ArenaError) -> str:
        """An error's box: the code, what is wrong, the next step."""
        return self.render("error", error=error)

    def page(self, title: str, build: Callable[[], str]) -> str:
        """A page, or its title with the error that it met."""
        built = self.attempt(build)
        if isinstance(built, ArenaError):
            return self.render("heading", title=title) + self.error(built)
        return built
