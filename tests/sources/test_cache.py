"""What was fetched is kept within a size, and what is gone is fetched again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arena.sources import FileCache, GitHubSource, parse_source
from tests.localgithub import LocalGitHub

KIB = b"x" * 1024


def test_what_was_used_longest_ago_makes_room(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, max_bytes=10 * len(KIB))
    for number in range(10):
        cache.keep(f"{number}0", KIB)
        os.utime(tmp_path / f"{number}0" / f"{number}0", (number, number))
    assert cache.content("00"), "used just now"
    cache.keep("new", KIB)
    kept = {name for name in ("new", *(f"{n}0" for n in range(10))) if cache.holds(name)}
    assert {"new", "00", "90"} <= kept
    assert "10" not in kept
    assert len(kept) == 9, "a tenth is free again"


def test_a_cache_of_an_earlier_process_counts(tmp_path: Path) -> None:
    for name in ("old1", "old2"):
        FileCache(tmp_path).keep(name, KIB)
        os.utime(tmp_path / "ol" / name, (1, 1))
    cache = FileCache(tmp_path, max_bytes=2 * len(KIB))
    cache.keep("new", KIB)
    assert [cache.content(name) for name in ("old1", "old2", "new")] == [None, None, KIB]


@pytest.mark.parametrize("gone", ["file", "listing", "all"])
def test_a_repository_is_fetched_again_where_something_made_room(
    github: LocalGitHub, tmp_path: Path, gone: str
) -> None:
    github.create("Owner/again", {"a": "one\n", "b": "two\n"})
    source = GitHubSource(github.url, FileCache(tmp_path / "files"))
    pinned = source.resolve(parse_source("github:Owner/again"))
    source.fetch(pinned, tmp_path / "first")
    kept = sorted(p for p in (tmp_path / "files").rglob("*") if p.is_file())
    listings = [p for p in kept if p.suffix == ".json"]
    files = [p for p in kept if p not in listings]
    for path in {"file": files[:1], "listing": listings, "all": kept}[gone]:
        path.unlink()
    source.fetch(pinned, tmp_path / "second")
    assert (tmp_path / "second/a").read_text() == "one\n"
    assert (tmp_path / "second/b").read_text() == "two\n"
