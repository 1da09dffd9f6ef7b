"""Figures as people read them: one decimal, a true minus, a dash where there is none."""

from __future__ import annotations

from collections.abc import Sequence

NONE = "–"


def pp(value: float | None) -> str:
    """A change in percentage points: signed, one decimal, a true minus."""
    if value is None:
        return NONE
    tenths = round(value, 1)
    return f"{tenths:+.1f}".replace("-", "−") if tenths else "0.0"


def percent(fraction: float | None) -> str:
    """A fraction in percent, one decimal."""
    return NONE if fraction is None else f"{fraction * 100:.1f}"


def interval(ends: Sequence[float] | None) -> str:
    """A 95 % interval in pp."""
    return NONE if ends is None else f"[{pp(ends[0])}, {pp(ends[1])}]"


def seconds(value: float | None) -> str:
    """A duration."""
    if value is None:
        return NONE
    if value < 10:
        return f"{value:.1f} s"
    return f"{value:.0f} s" if value < 90 else f"{value / 60:.1f} min"


def about(value: float) -> str:
    """An estimated duration, no finer than it is known."""
    if value < 90:
        return f"about {max(round(value), 1)} s"
    minutes = value / 60
    return f"about {minutes:.0f} min" if minutes < 90 else f"about {minutes / 60:.1f} h"
