"""`/docs?page=…`: the repository's own documentation; `&section=…` shows one section of a page."""

from __future__ import annotations

import re
from pathlib import Path

import gradio as gr

from arena.web.layout import query, top
from arena.web.site import QUIET, Site

_ROOT = Path(__file__).resolve().parents[3]
_KIT = _ROOT / "starting-kit" / "README.md"
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_LINK = re.compile(r"\[([^\[\]]+)\]\(([^\s()#:]+)(#[\w-]+)?\)")


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
        return html, _linked(text, pages, chosen)

    blocks.load(show, None, [contents, body], **QUIET)


def _pages() -> dict[str, Path]:
    """The files by name: only these are ever read, whatever the address asks for."""
    docs = sorted((_ROOT / "docs").glob("*.md")) + sorted((_ROOT / "docs" / "spec").glob("*.md"))
    paths = [_ROOT / "README.md", *docs, _ROOT / "CHANGELOG.md"]
    pages = {path.stem: path for path in paths} | {"starting-kit": _KIT}
    return {name: path for name, path in pages.items() if path.is_file()}


def _linked(text: str, pages: dict[str, Path], chosen: str) -> str:
    """A page whose links to other pages lead there; one to another file is left as its words."""
    names = {path.resolve(): name for name, path in pages.items()}

    def link(match: re.Match[str]) -> str:
        words, target, anchor = match.groups(default="")
        if target.startswith("/"):
            return match[0]
        name = names.get((pages[chosen].parent / target).resolve())
        return f"[{words}](/docs?page={name}{anchor})" if name else words

    return _LINK.sub(link, text)


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
