"""`/docs?page=…`: the repository's own documentation; `&section=…` shows one section of a page."""

from __future__ import annotations

import re
from pathlib import Path

import gradio as gr

from arena.web.layout import query, top
from arena.web.site import QUIET, Site

_ROOT = Path(__file__).resolve().parents[3]
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_LINK = re.compile(r"\]\((?:[\w.]+/)*([\w-]+)\.md(#[\w-]+)?\)")


def build(site: Site, blocks: gr.Blocks) -> None:
    """A list of pages, and the chosen one."""
    top()
    contents = gr.HTML()
    body = gr.Markdown(elem_classes="docs")

    def show(request: gr.Request) -> tuple[str, str]:
        pages = _pages()
        chosen = query(request, "page") or next(iter(pages), "")
        text = _section(_text(pages[chosen]), query(request, "section")) if chosen in pages else ""
        titles = {name: _title(path) for name, path in pages.items()}
        html = site.render("docs", titles=titles, chosen=chosen, known=chosen in pages)
        return html, _LINK.sub(r"](/docs?page=\1\2)", text)

    blocks.load(show, None, [contents, body], **QUIET)


def _pages() -> dict[str, Path]:
    """The files by name: only these are ever read, whatever the address asks for."""
    docs = sorted((_ROOT / "docs").glob("*.md")) + sorted((_ROOT / "docs" / "spec").glob("*.md"))
    paths = [_ROOT / "README.md", *docs, _ROOT / "CHANGELOG.md"]
    return {path.stem: path for path in paths if path.is_file()}


def _section(text: str, heading: str) -> str:
    """One section of a page with its title, or the whole page where it has no such section."""
    match = re.search(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", text, re.M | re.S)
    return match[0] if heading and match else text


def _title(path: Path) -> str:
    heading = re.search(r"^# (.+)$", _text(path), re.MULTILINE)
    return heading[1] if heading else path.stem


def _text(path: Path) -> str:
    """A file without the settings that stand before its text."""
    return _FRONT_MATTER.sub("", path.read_text(encoding="utf-8"))
