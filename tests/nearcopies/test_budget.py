"""How much text is compared: a collection made to be slow costs little, and nothing is cut unsaid."""

from __future__ import annotations

from pathlib import Path

from arena.nearcopies import compare, open_index
from arena.nearcopies.parts import MAX_DATA, MAX_MORE, MAX_PART, SURE, Pool, features_of
from tests.nearcopies.packages import KIT, copy_of

EXAMPLES = sorted(KIT.iterdir())
FILES, SIZE = 4, 200 * 1024


def padded(target: Path) -> Path:
    """A copy of an example with an oracle of 800 KiB, which read fast: one comment a file."""
    copy = copy_of(EXAMPLES[0], target, lambda path, text: text)
    for number in range(FILES):
        (copy / "oracle" / f"a{number}.py").write_text("#".ljust(SIZE, "x"))
    return copy


def own(root: Path) -> int:
    """What is compared of an example anyway."""
    return features_of(root).compared


def test_a_collections_text_is_compared_up_to_a_limit(tmp_path: Path) -> None:
    count = MAX_MORE // (MAX_PART - SURE) + 4
    roots = [padded(tmp_path / f"p{n:02}") for n in range(count)]
    found = compare(roots, [])
    assert found.cut == [root.name for root in roots]
    of_files = count * FILES * SIZE
    assert found.compared <= MAX_MORE + count * (3 * SURE + MAX_DATA) < of_files
    assert found.compared >= MAX_MORE + count * SURE


def test_each_package_has_its_sure_part_when_others_took_the_rest(tmp_path: Path) -> None:
    root, empty = padded(tmp_path / "p"), Pool(0)
    package = features_of(root, empty)
    assert package.cut == {"oracle"}
    assert SURE <= package.compared <= SURE + own(EXAMPLES[0])
    assert features_of(EXAMPLES[0], empty).compared == own(EXAMPLES[0])
    assert features_of(EXAMPLES[0], empty).cut == frozenset()
    rest = Pool(1_000)
    assert features_of(root, rest).compared == package.compared + 1_000
    assert rest.left == 0


def test_a_part_is_compared_up_to_its_limit_however_much_is_left(tmp_path: Path) -> None:
    package = features_of(padded(tmp_path / "p"))
    assert package.cut == {"oracle"}
    assert MAX_PART <= package.compared <= MAX_PART + own(EXAMPLES[0])


def test_an_example_behind_large_packages_is_still_a_copy(tmp_path: Path) -> None:
    count = MAX_MORE // (MAX_PART - SURE) + 1
    roots = [padded(tmp_path / f"p{n:02}") for n in range(count)]
    copy = copy_of(EXAMPLES[1], tmp_path / "mine", lambda path, text: f"{text}\n")
    found = compare([*roots, copy], [open_index(EXAMPLES[1:2])])
    assert [near.package for near in found.copies] == ["mine"]
    assert "mine" not in found.cut
