"""HTML from templates: everything is escaped, whoever wrote it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from arena.figures import NONE, about, interval, percent, pp, seconds
from arena.plaintext import plain
from arena.report import CurvePoint
from arena.sources import parse_source

_TEMPLATES = Path(__file__).parent / "templates"

# What each state means, as a colour; its name always stands beside it.
TONES = {
    **dict.fromkeys(("valid", "accepted", "open", "done", "yes", "ok"), "good"),
    **dict.fromkeys(("invalid", "failed", "rejected", "closed", "error", "fail"), "bad"),
    **dict.fromkeys(("paused", "waiting", "warning", "no", "withdrawn", "degraded"), "warn"),
    **dict.fromkeys(("running", "fetching", "checking", "comparing", "scored"), "busy"),
}


class Renderer:
    """Renders the templates of the pages."""

    def __init__(self, hub: str) -> None:
        self._hub = hub
        self._env = Environment(
            loader=FileSystemLoader(_TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._env.filters.update(
            pp=pp,
            percent=percent,
            interval=interval,
            when=when,
            at_second=at_second,
            seconds=seconds,
            about=about,
            tone=tone,
            plain=plain,
            capitalized=capitalized,
        )
        self._env.globals.update(
            NONE=NONE,
            source_url=self.source_url,
            folder_url=self.folder_url,
            curve=curve_points,
            reward=reward,
        )

    def __call__(self, template: str, **values: object) -> str:
        """A template as HTML."""
        return self._env.get_template(f"{template}.html").render(**values)

    def source_url(self, source: str) -> str:
        """Where a pinned source stands: on the Hub, or on GitHub."""
        address = parse_source(source)
        if address.scheme == "github":
            path = f"{address.repo}/tree/{address.revision}/{address.subpath}".rstrip("/")
            return f"https://github.com/{quote(path)}"
        return self.folder_url(address.repo, address.revision, address.subpath)

    def folder_url(self, repo: str, revision: str, folder: str = "") -> str:
        """A folder of a dataset on the Hub."""
        path = f"{repo}/tree/{revision}/{folder}".rstrip("/")
        return f"{self._hub}/datasets/{quote(path)}"


def when(moment: datetime | None) -> str | Markup:
    """A time, in UTC and marked so."""
    if moment is None:
        return NONE
    iso, text = moment.isoformat(timespec="seconds"), f"{moment:%Y-%m-%d %H:%M} UTC"
    return Markup('<time datetime="{}">{}</time>').format(iso, text)


def at_second(moment: datetime) -> Markup:
    """A time that is waited for, to the second, in UTC and marked so."""
    utc = moment.astimezone(UTC)
    text = f"{utc:%Y-%m-%d %H:%M:%S} UTC"
    return Markup('<time datetime="{}">{}</time>').format(utc.isoformat(timespec="seconds"), text)


def capitalized(text: str) -> str:
    """A sentence that begins as one; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def reward(value: float | None) -> str:
    """A trial's reward."""
    return NONE if value is None else f"{value:g}"


def tone(state: str) -> Markup:
    """A state in its colour, with its name."""
    return Markup('<span class="state {}">{}</span>').format(TONES.get(state, "plain"), state)


def curve_points(curve: list[CurvePoint], width: int, height: int) -> str:
    """A reward curve as the points of an SVG polyline; rewards lie between 0 and 1."""
    last = max(len(curve) - 1, 1)
    return " ".join(
        f"{index / last * width:.1f},{(1 - min(max(point.reward, 0), 1)) * height:.1f}"
        for index, point in enumerate(curve)
    )
