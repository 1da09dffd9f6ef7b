"""An author is told all at once: a fault of one key hides no other finding."""

from pathlib import Path

import pytest

from arena.packages import check_collection, check_package
from tests.collections import FILES, write_package

BAD_CATEGORY = FILES["task.md"].replace("category: software-engineering", "category: cookery")


def codes(root: Path, changes: dict[str, str | None]) -> set[str]:
    return {finding.code for finding in check_package(write_package(root, changes)).findings}


def test_a_bad_key_hides_neither_licence_nor_origin_nor_network(tmp_path: Path) -> None:
    task = BAD_CATEGORY.replace("Apache-2.0", "Apache2").replace("  origin: original\n", "")
    test = FILES["verifier/test.sh"].replace("#!/bin/sh\n", "#!/bin/sh\npip install pytest\n")
    found = codes(tmp_path / "p", {"task.md": task, "verifier/test.sh": test})
    assert found == {"TP003", "TP017", "TP019", "TP027"}
    forbidden = BAD_CATEGORY.replace("Apache-2.0", "proprietary")
    assert codes(tmp_path / "q", {"task.md": forbidden}) == {"TP003", "TP020"}
    bare = BAD_CATEGORY.replace("  license: Apache-2.0\n", "")
    assert codes(tmp_path / "r", {"task.md": bare}) == {"TP003", "TP018"}


def test_a_bad_key_hides_no_missing_licence_of_a_collection(tmp_path: Path) -> None:
    write_package(tmp_path / "p", {"task.md": BAD_CATEGORY.replace("  license: Apache-2.0\n", "")})
    report = check_collection(tmp_path)
    assert [finding.code for finding in report.findings] == ["TP014"]


def test_network_counts_in_either_spelling_whatever_else_is_wrong(tmp_path: Path) -> None:
    test = FILES["verifier/test.sh"].replace("#!/bin/sh\n", "#!/bin/sh\npip install pytest\n")
    for number, section in enumerate(
        ("environment:\n  allow_internet: true", "sandbox:\n  network_mode: public")
    ):
        task = BAD_CATEGORY.replace("environment:\n  memory_mb: 64", section)
        changes: dict[str, str | None] = {"task.md": task, "verifier/test.sh": test}
        assert codes(tmp_path / f"p{number}", changes) == {"TP003"}


def test_a_placeholder_is_told_once(tmp_path: Path) -> None:
    task = FILES["task.md"].replace("category: software-engineering", "category: REPLACE-ME")
    package = write_package(tmp_path / "p", {"task.md": task})
    assert [(f.code, f.line) for f in check_package(package).findings] == [("TP021", 5)]


@pytest.mark.parametrize("line", ["agent:\n  timeout_sec: 10", "  memory_mb: 64"])
def test_a_truth_is_no_number(tmp_path: Path, line: str) -> None:
    task = FILES["task.md"].replace(line, line.rpartition(": ")[0] + ": true")
    assert task != FILES["task.md"]
    assert codes(tmp_path / "p", {"task.md": task}) == {"TP003"}


@pytest.mark.parametrize("text", ["", " \n\n"])
@pytest.mark.parametrize("path", ["oracle/solve.sh", "verifier/rubrics/quality.md"])
def test_a_file_of_nothing_but_blanks_is_empty(tmp_path: Path, path: str, text: str) -> None:
    package = write_package(tmp_path / "p", {path: text})
    found = [(f.code, f.file, f.message) for f in check_package(package).findings]
    assert found == [("TP001", path, f"{path} is empty")]
