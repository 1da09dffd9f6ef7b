"""What the pages share: the bar at the top, and going to another page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from arena.web.site import BUSY, QUIET

LIVE_SECONDS = 1.2


def top() -> None:
    """The tabs, and signing in or out, which comes back to the page it left."""
    gr.Navbar(main_page_name="Arena", elem_id="tabs")
    gr.LoginButton(logout_value="Sign out ({})", size="sm", elem_id="sign-in", scale=0)


def live(
    blocks: gr.Blocks,
    show: Callable[..., Any],
    outputs: Sequence[Any],
    inputs: Sequence[Any] = (),
) -> gr.Timer:
    """Shows a page when it loads, and again while `show` keeps the timer on.

    `show` gives a value for each of `outputs`, then whether something is under way.
    """
    timer = gr.Timer(LIVE_SECONDS, active=False)
    blocks.load(show, list(inputs), [*outputs, timer], **QUIET)
    timer.tick(show, list(inputs), [*outputs, timer], **QUIET)
    return timer


def ticking(moving: bool) -> gr.Timer:
    """The timer's next state."""
    return gr.Timer(active=moving)


def writing(
    button: gr.Button, act: Callable[..., Any], inputs: Sequence[Any], outputs: Sequence[Any]
) -> Any:
    """A button whose handler writes; while that waits for its commit, a line below says how long.

    The browser asks for it: a handler that answers at once, outside Gradio's queue, cannot report.
    """
    button.click(None, js=_TELL.replace("BUTTON", button.elem_id), **QUIET)
    done = button.click(act, list(inputs), list(outputs), **BUSY)
    done.then(None, js=_TOLD.replace("BUTTON", button.elem_id), **QUIET)
    return done


_TELL = """() => {
  const button = document.getElementById("BUTTON");
  button.told?.();
  const line = document.createElement("p");
  line.className = "muted";
  line.setAttribute("role", "status");
  button.insertAdjacentElement("afterend", line);
  const timer = setInterval(async () => {
    const answer = await fetch("/api/v1/writes").catch(() => null);
    const writes = answer?.ok ? (await answer.json()).writes : null;
    line.textContent = writes?.waiting ? writes.text + "." : "";
  }, 2000);
  button.told = () => { clearInterval(timer); line.remove(); };
}"""
_TOLD = """() => document.getElementById("BUTTON")?.told?.()"""


class Going:
    """Takes the browser to an address that a handler gave."""

    def __init__(self) -> None:
        self.address = gr.Textbox(visible="hidden", elem_id="going")

    def on(
        self,
        button: gr.Button,
        act: Callable[..., Any],
        inputs: Sequence[Any],
        outputs: Sequence[Any],
    ) -> None:
        """A button whose handler gives an address to go to, or none, after its other outputs."""
        done = writing(button, act, inputs, [*outputs, self.address])
        done.then(
            None,
            self.address,
            None,
            js="(address) => { if (address) window.location.assign(address); }",
            **QUIET,
        )


def query(request: gr.Request, name: str) -> str:
    """A part of the page's address."""
    return str(request.query_params.get(name, ""))[:200]
