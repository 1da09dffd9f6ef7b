"""The demo's packages: sound, the same bytes at every call, and as many as asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.packages import check_collection, check_package, collection_digest
from local.demo.families import DELETE, WRITE
from local.demo.tasks import write_collection, write_suite


def test_every_package_passes_the_check_without_a_warning(tmp_path: Path) -> None:
    folders = write_collection(tmp_path / "collection") + write_suite(tmp_path / "suite")
    assert [f for folder in folders for f in check_package(folder).findings] == []
    assert (len(list((tmp_path / "collection").glob("*/"))), len(folders)) == (12, 20)


def test_the_collection_is_one_that_the_arena_takes(tmp_path: Path) -> None:
    write_collection(tmp_path)
    report = check_collection(tmp_path)
    assert report.ok
    assert {p.package.domain for p in report.packages if p.package} == {
        "office-white-collar",
        "software-engineering",
    }


def test_the_bytes_never_differ(tmp_path: Path) -> None:
    digests = [collection_digest(write_collection(tmp_path / name)) for name in ("a", "b")]
    assert digests[0] == digests[1]


def test_count_and_families_can_be_chosen(tmp_path: Path) -> None:
    collection = write_collection(tmp_path / "collection", 2, [DELETE, WRITE])
    assert [folder.name.split("-")[0] for folder in collection] == ["delete", "write"]
    assert len(write_suite(tmp_path / "suite", 2)) == 2


def test_more_tasks_than_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="words for 1 to 12"):
        write_collection(tmp_path, 13)
