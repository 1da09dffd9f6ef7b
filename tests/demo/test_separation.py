"""Suite and training tasks share skills, not wording, and the base model never saw an answer.

Read off the files as they are published, not off what they are generated from.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from local.demo.pretraining import Pretraining, training_text
from local.demo.tasks import suite_specs, write_collection, write_suite
from local.demo.words import ALL_WORDS, BASE_WORDS, COLLECTION_WORDS, SUITE_WORDS

PATH = re.compile(r"(?<![\w/])(?:\.{1,2})?/[\w./-]+")
WORD = re.compile(r"\b(?:" + "|".join(ALL_WORDS) + r")\b")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
COMMANDS = re.compile(r"\b(?:echo|printf|tee|cat|cp|mkdir|rm|unlink|ls)\b")

Packages = list[Path]


def masked(text: str) -> str:
    """`text` without comments, layout, words, numbers and paths: what is left is its wording."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    text = " ".join(" ".join(lines).split())
    for pattern, name in ((PATH, "PATH"), (WORD, "WORD"), (NUMBER, "NUMBER")):
        text = pattern.sub(name, text)
    return text


def prompt(package: Path) -> str:
    return (package / "task.md").read_text().split("## prompt")[1]


PARTS = {
    "prompt": prompt,
    "oracle": lambda package: (package / "oracle" / "solve.sh").read_text(),
    "verifier": lambda package: (package / "verifier" / "test.sh").read_text(),
}


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    return write_collection(tmp_path_factory.mktemp("collection"))


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    return write_suite(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def text() -> list[str]:
    return training_text(Pretraining())


def test_the_mask_hides_words_numbers_and_paths() -> None:
    one = f"Write the word {SUITE_WORDS[0]} to the file /srv/answer.txt 3 times."
    two = f"Write the  word {BASE_WORDS[0]} to the file /root/a/b-c.txt 12 times."
    assert masked(one) == masked(two) == "Write the word WORD to the file PATH NUMBER times."


@pytest.mark.parametrize("part", PARTS)
def test_no_part_of_a_training_task_equals_a_suite_tasks(
    collection: Packages, suite: Packages, part: str
) -> None:
    training = {masked(PARTS[part](package)) for package in collection}
    held_out = {masked(PARTS[part](package)) for package in suite}
    assert not training & held_out


def test_no_verifier_makes_a_check_that_another_sides_makes(
    collection: Packages, suite: Packages
) -> None:
    """Not even a line of a test.sh that decides is the same."""

    def deciding(packages: Packages) -> set[str]:
        lines = (line for p in packages for line in PARTS["verifier"](p).splitlines())
        return {masked(line) for line in lines if WORD.search(line) and not line.startswith("#")}

    assert deciding(collection)
    assert not deciding(collection) & deciding(suite)


def test_words_are_of_one_set_only() -> None:
    sets = [set(SUITE_WORDS), set(COLLECTION_WORDS), set(BASE_WORDS)]
    assert sum(map(len, sets)) == len(set().union(*sets)) == len(ALL_WORDS)


def test_no_task_is_in_the_base_models_text(
    collection: Packages, suite: Packages, text: list[str]
) -> None:
    whole = "\n".join(text)
    for package in collection + suite:
        assert prompt(package).strip() not in whole
        command = (package / "oracle" / "solve.sh").read_text().splitlines()[-1]
        assert command not in whole


def test_the_base_never_saw_a_suite_word_beside_a_command_or_in_its_place(
    text: list[str],
) -> None:
    held_out = re.compile(r"\b(?:" + "|".join(SUITE_WORDS) + r")\b")
    beside = [document for document in text if held_out.search(document)]
    assert beside, "the base is to know the words"
    assert not [document for document in beside if COMMANDS.search(document)]
    assert not [d for d in beside if any(spec.directory + "/" in d for spec in suite_specs())]


def test_the_text_is_the_same_at_every_call(text: list[str]) -> None:
    assert training_text(Pretraining()) == text
