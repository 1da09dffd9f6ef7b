"""The reference says what the code does."""

import re
from pathlib import Path

from arena.packages import check_package
from arena.packages.reference import as_markdown
from arena.sandbox.verification import ENVIRONMENT
from tests.collections import FILES, write_package

SPEC = Path(__file__).parents[2] / "docs" / "spec"


def test_the_page_of_fields_is_fresh() -> None:
    page = (SPEC / "fields.md").read_text(encoding="utf-8")
    assert page == as_markdown(), "run: python -m arena.packages.reference > docs/spec/fields.md"


def test_every_example_of_a_field_is_a_value_that_is_allowed(tmp_path: Path) -> None:
    rows = re.findall(r"^\| `(\w+)\.(\w+)` \| .*? \| .*? \| `(.+?)` \|", as_markdown(), re.M)
    assert len(rows) >= 15
    sections: dict[str, dict[str, str]] = {}
    for section, name, example in rows:
        sections.setdefault(section, {})[name] = example
    lines = ["---", 'version: "1.0"']
    for section, fields in sections.items():
        lines += [f"{section}:", *(f"  {name}: {value}" for name, value in fields.items())]
    task = "\n".join([*lines, "---", "", "Do it."]).replace("no-network", "allowlist")
    report = check_package(write_package(tmp_path / "p", {"task.md": task}))
    assert report.findings == []


def test_the_front_matter_shown_is_sound(tmp_path: Path) -> None:
    page = (SPEC / "task-package.md").read_text(encoding="utf-8")
    shown = re.search(r"^    ---\n.*?^    ---\n.*?$(?=\n\nThe agent)", page, re.M | re.S)
    assert shown
    task = re.sub(r"^    ", "", shown[0], flags=re.M)
    report = check_package(write_package(tmp_path / "p", {**FILES, "task.md": task}))
    assert report.findings == []


def test_the_verifiers_environment_is_written_down() -> None:
    page = (SPEC / "task-package.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in ENVIRONMENT if name.startswith("BENCHFLOW_"))
