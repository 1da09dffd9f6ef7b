"""The rule book keeps its word: each entry's bad example is found, its good one is not."""

from pathlib import Path

import pytest

from arena.packages import check_collection, check_package
from arena.packages.rules import RULES
from arena.packages.rules.book import Described, Entry, as_markdown, rule_book
from tests.collections import FILES, write_package

ROOT = Path(__file__).parents[2]
SHOWN_ONLY = {
    "TP000",
    "TP001",
    "TP007",
    "TP008",
    "TP009",
    "TP010",
    "TP013",
    "TP025",
    "TP037",
    "TP038",
}
"""Rules whose examples are trees of files; test_faults.py and test_check.py plant their faults."""

CODES_FOR_GOOD = {
    "TP002": "front_matter_parses",
    "TP003": "keys_are_right",
    "TP005": "from_comes_first",
    "TP009": "package_count",
    "TP012": "reward_can_change",
    "TP014": "packages_are_licensed",
}
"""A sample of codes and what they mean, for good."""


def codes_with(root: Path, entry: Entry, example: str) -> set[str]:
    """The codes found in a collection of the sound package, changed as an entry's example says."""
    files: dict[str, str | None] = dict(FILES)
    if entry.without:
        assert entry.without in FILES["task.md"]
        files["task.md"] = FILES["task.md"].replace(entry.without, "")
    assert entry.file
    if entry.file == "submission.yaml":
        root.mkdir()
        (root / entry.file).write_text(example)
    elif entry.replaces is None:
        files[entry.file] = example
    else:
        assert entry.replaces in FILES[entry.file], "the entry's anchor is in the sound package"
        files[entry.file] = FILES[entry.file].replace(entry.replaces, example)
    package = write_package(root / "write-apple", files)
    report = check_collection(root)
    alone = [] if entry.without else check_package(package).findings
    return {f.code for f in [*report.findings, *report.packages[0].findings, *alone]}


EXAMPLES = [rule for rule in rule_book() if rule.code not in SHOWN_ONLY]


@pytest.mark.parametrize("rule", EXAMPLES, ids=[rule.code for rule in EXAMPLES])
def test_an_entrys_examples_are_true(tmp_path: Path, rule: Described) -> None:
    assert rule.code in codes_with(tmp_path / "bad", rule.entry, rule.entry.bad)
    assert codes_with(tmp_path / "good", rule.entry, rule.entry.good) == set()


def test_only_trees_of_files_are_shown_without_being_tried() -> None:
    assert {rule.code for rule in rule_book() if rule.entry.file is None} == SHOWN_ONLY


def test_the_table_is_in_order_and_every_code_is_one_rule() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == [f"TP{number:03}" for number in range(1, len(RULES) + 1)]
    assert all(rule.package or rule.collection for rule in RULES)


def test_codes_keep_their_meaning() -> None:
    meanings = {r.code: {c.__name__ for c in (r.package, r.collection) if c} for r in RULES}
    for code, name in CODES_FOR_GOOD.items():
        assert name in meanings[code]


def test_every_rule_stands_in_the_module_of_its_part() -> None:
    parts = {"files", "document", "environment", "verifier", "oracle", "collection"}
    assert {rule.part for rule in RULES} == parts


def test_the_page_of_the_rule_book_is_fresh() -> None:
    page = (ROOT / "docs/spec/rules.md").read_text(encoding="utf-8")
    assert page == as_markdown(), "run: python -m arena.packages.rules.book > docs/spec/rules.md"
