"""What a copyist does to a task, and what is told of it: both directions."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.nearcopies import Comparison, SealedIndex, compare, concerns, open_index
from local.demo.tasks import write_collection, write_suite
from tests.nearcopies.packages import KIT, copy_of, small_package, with_prompt

Change = Callable[[str, str], str]
EXAMPLES = sorted(KIT.iterdir())


@pytest.fixture(scope="module")
def suite() -> SealedIndex:
    return open_index(EXAMPLES)


def only(found: Comparison) -> tuple[str, int]:
    """The one copy's part, and which task it is of."""
    (near,) = found.copies
    return near.likeness.part, near.likeness.task


def shouted(path: str, text: str) -> str:
    """The prompt in capitals, without Markdown."""
    return re.sub(r"[`*_]", "", text).upper() if path.endswith("task.md") else text


def renumbered(path: str, text: str) -> str:
    return re.sub(r"(?<![\w.])\d+", lambda m: str(int(m[0]) * 3 + 1), text)


def renamed(path: str, text: str) -> str:
    return re.sub(r"\b(data|row|rows|line|lines|path|name|found|day)\b", r"\1_x", text)


def turned_round(path: str, text: str) -> str:
    """The prompt's paragraphs in the opposite order."""
    if path != "task.md":
        return text
    head, _, prompt = text.partition("## prompt\n")
    return head + "## prompt\n\n" + "\n\n".join(reversed(prompt.strip().split("\n\n"))) + "\n"


def introduced(path: str, text: str) -> str:
    welcome = "Welcome to your first day here. Take a seat, and let me show you around.\n\n" * 5
    return text.replace("## prompt\n", f"## prompt\n\n{welcome}") if path == "task.md" else text


def reworded(path: str, text: str) -> str:
    """Another prompt; oracle and verifier as they were."""
    said = "## prompt\n\nDo what the files before you ask for, as a careful colleague would.\n"
    return re.sub(r"## prompt\n.*", said, text, flags=re.S) if path == "task.md" else text


def solved_otherwise(path: str, text: str) -> str:
    """Another oracle and verifier; the prompt as it was."""
    if path.startswith(("oracle/", "verifier/")) and path.endswith((".py", ".sh")):
        return "#!/bin/sh\necho 1\n"
    return text


@pytest.mark.parametrize(
    "change",
    [shouted, renumbered, renamed, turned_round, introduced, reworded, solved_otherwise],
)
@pytest.mark.parametrize("number", [0, 3, 6])
def test_a_changed_copy_is_a_copy(
    suite: SealedIndex, tmp_path: Path, change: Change, number: int
) -> None:
    copy = copy_of(EXAMPLES[number], tmp_path / "mine", change)
    assert only(compare([copy], [suite]))[1] == number


def variants(root: Path, example: Path, count: int) -> list[Path]:
    """Tasks that differ in a name and a place, as a generator makes them."""

    def change(number: int) -> Change:
        return lambda path, text: text.replace("/root", f"/srv/{number}").replace(
            "## prompt\n", f"## prompt\n\nThis one is for {chr(97 + number) * 4}.\n"
        )

    return [copy_of(example, root / f"v{n:02}", change(n)) for n in range(count)]


def test_many_variants_in_a_suite_are_not_taken_for_boilerplate(tmp_path: Path) -> None:
    index = open_index([*variants(tmp_path / "suite", EXAMPLES[0], 20), *EXAMPLES[1:]])
    copy = copy_of(EXAMPLES[0], tmp_path / "mine", renumbered)
    assert [near.package for near in compare([copy], [index]).copies] == ["mine"]


def test_many_copies_in_a_collection_are_twins(tmp_path: Path) -> None:
    copies = variants(tmp_path, EXAMPLES[0], 20)
    found = compare([*EXAMPLES[1:], *copies], [])
    assert {twins.package for twins in found.twins} == {copy.name for copy in copies[1:]}


def test_neighbours_are_clear(suite: SealedIndex, tmp_path: Path) -> None:
    """The demo's tasks beside the kit, and each of the kit beside the others."""
    assert compare(write_collection(tmp_path, 12), [suite]) == Comparison()
    for number, example in enumerate(EXAMPLES):
        others = open_index(EXAMPLES[:number] + EXAMPLES[number + 1 :])
        found = compare([example], [others])
        assert (found.copies, found.suspects) == ([], [])


def test_the_demos_example_is_clear_of_its_suite_and_the_suite_renamed_is_not(
    tmp_path: Path,
) -> None:
    tasks = write_suite(tmp_path / "suite", 8)
    index = open_index(tasks)
    found = compare(write_collection(tmp_path / "collection", 12), [index])
    assert (found.copies, found.suspects) == ([], [])
    words = {"harbor": "granite", "pigeon": "spinach", "chapel": "lawyer", "peach": "parrot"}
    words |= {"breeze": "pocket", "/srv": "/home"}

    def other_names(path: str, text: str) -> str:
        for old, new in words.items():
            text = text.replace(old, new)
        return text

    copies = [
        copy_of(task, tmp_path / "mine" / str(i), other_names) for i, task in enumerate(tasks)
    ]
    found = compare(copies, [index])
    assert [near.likeness.task for near in found.copies] == list(range(8))


def test_a_small_tasks_oracle_alone_convicts_nobody(tmp_path: Path) -> None:
    task = small_package(
        tmp_path / "a", "Put the file in.csv where out.csv is wanted.", "cp /a /b", "[ -e /b ]"
    )
    other = small_package(
        tmp_path / "b",
        "Keep a spare of the ledger before the audit begins.",
        "cp /c /d",
        "[ -e /d ]",
    )
    found = compare([other], [open_index([task])])
    assert found.copies == []


def test_passages_are_the_authors_own(suite: SealedIndex, tmp_path: Path) -> None:
    copy = copy_of(EXAMPLES[0], tmp_path / "mine", introduced)
    (near,) = compare([copy], [suite]).copies
    assert near.passages
    for passage in near.passages:
        written = (copy / passage.file).read_text().splitlines()
        assert passage.text.splitlines()[0].strip() == written[passage.line - 1].strip()
        assert "Welcome" not in passage.text


def test_a_twin_is_told_with_the_earlier_package_that_it_is_like(tmp_path: Path) -> None:
    twin = copy_of(EXAMPLES[1], tmp_path / "twin", renamed)
    found = compare([*EXAMPLES[:3], twin], [])
    assert [(t.package, t.other) for t in found.twins] == [("twin", EXAMPLES[1].name)]


def half(path: str, text: str) -> str:
    """Half of the prompt and half of the code, as one who borrows would."""
    if path == "task.md":
        head, _, prompt = text.partition("## prompt\n")
        return f"{head}## prompt\n{prompt[: len(prompt) // 2]}\n"
    if path.endswith(".py"):
        return text[: len(text) // 2]
    return text


def test_suspects_of_one_task_are_the_editors_concern(suite: SealedIndex, tmp_path: Path) -> None:
    copies = [
        with_prompt(copy_of(EXAMPLES[0], tmp_path / name, half), f"About {name}, and no more.")
        for name in ("one", "two")
    ]
    found = compare([*copies, *write_collection(tmp_path / "c", 6)], [suite])
    assert found.copies == []
    assert {near.package for near in found.suspects} == {"one", "two"}
    said = concerns(found.suspects, 8)
    assert "2 packages are suspects of one and the same held-out task" in said
    assert "2 of 8 packages are suspects" in said
    assert concerns(found.suspects[:1], 8) == []


def test_padding_does_not_hide_a_copy_from_the_editors(suite: SealedIndex, tmp_path: Path) -> None:
    copy = copy_of(EXAMPLES[0], tmp_path / "padded", lambda path, text: text)
    for number in range(9):
        (copy / "oracle" / f"a{number}.py").write_text("x = 1 + y\n" * 30_000)
    found = compare([copy], [suite])
    assert found.cut == ["padded"]
