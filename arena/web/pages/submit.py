"""`/submit`: enter a collection."""

from __future__ import annotations

import gradio as gr

from arena.errors import ArenaError
from arena.requests import MAX_TITLE
from arena.web.layout import Going, top
from arena.web.site import QUIET, Site

_EMPTY = {"source": "", "title": ""}
_RESTORE = "(kept, source, title) => [source || kept?.source || '', title || kept?.title || '']"


def build(site: Site, blocks: gr.Blocks) -> None:
    """The form. What was typed stays: beside an error, over signing in, over a reload."""
    top()
    gr.HTML(site.render("submit"))
    draft = gr.BrowserState(_EMPTY, storage_key="arena-submit")
    with gr.Column(elem_classes="act"):
        source = gr.Textbox(
            label="Source",
            info="A branch, tag or commit; it is pinned to the commit.",
            placeholder="hf:OWNER/NAME@REVISION or github:OWNER/NAME@REVISION",
            max_lines=1,
            elem_id="source",
        )
        title = gr.Textbox(
            label="Title",
            info=f"What the collection is called; at most {MAX_TITLE} characters.",
            max_lines=1,
            elem_id="title",
        )
        button = gr.Button("Submit", variant="primary", elem_id="submit")
        error = gr.HTML(elem_id="error")
        going = Going()

    def typed(text: str, name: str) -> dict[str, str]:
        return {"source": text, "title": name}

    def submit(
        text: str, name: str, token: gr.OAuthToken | None
    ) -> tuple[str, dict[str, str], str]:
        done = site.attempt(lambda: site.service.submit(site.who(token), text, name))
        if isinstance(done, ArenaError):
            return site.error(done), typed(text, name), ""
        return "", _EMPTY, f"/submission?id={done.id}"

    going.on(button, submit, [source, title], [error, draft])
    for field in (source, title):
        field.blur(typed, [source, title], draft, **QUIET)

    # In the browser itself: an answer of the server's could come after somebody began to type.
    blocks.load(None, [draft, source, title], [source, title], js=_RESTORE, **QUIET)
