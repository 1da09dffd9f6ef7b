"""The sealed index: what it holds, what a wrong key gets, what a share is a share of."""

from __future__ import annotations

import io
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from arena.nearcopies import SealedIndex, SealedIndexError, seal
from arena.nearcopies.index import SAMPLE
from arena.nearcopies.parts import PARTS, features_of
from arena.nearcopies.sketches import Sketch, Sketcher, from_bytes
from tests.nearcopies.packages import KIT

KEY = b"k" * 40


def sketch(content: int, *features: int) -> Sketch:
    """A sketch whose prompt has these features, and nothing else."""
    parts = {part: np.array([], np.uint64) for part in PARTS}
    return Sketch(content, parts | {"prompt": np.unique(np.array(features, np.uint64))})


@pytest.fixture(scope="module")
def sealed() -> SealedIndex:
    return seal(sorted(KIT.iterdir()), KEY, "v1")


def reread(content: bytes, folder: Path, key: bytes = KEY) -> SealedIndex:
    """An index as its file tells it."""
    (folder / "index.npz").write_bytes(content)
    return SealedIndex.read(folder / "index.npz", key)


def test_an_index_that_was_written_and_read_finds_the_same(
    sealed: SealedIndex, tmp_path: Path
) -> None:
    read = reread(sealed.to_bytes(), tmp_path)
    assert read.facts == sealed.facts
    assert read.facts.tasks == len(list(KIT.iterdir()))
    for root in KIT.iterdir():
        package = features_of(root)
        found = read.compare(read.sketch(package))
        assert found == sealed.compare(sealed.sketch(package))
        assert [shared.is_exact for shared in found] == [True]


def test_another_key_is_refused_and_matches_nothing(sealed: SealedIndex, tmp_path: Path) -> None:
    with pytest.raises(SealedIndexError, match="another key"):
        reread(sealed.to_bytes(), tmp_path, b"x" * 40)
    stranger = Sketcher(b"x" * 40)
    package = features_of(next(KIT.iterdir()))
    assert sealed.compare(stranger(package)) == []


@pytest.mark.parametrize("damage", [b"", b"no index", None])
def test_a_damaged_index_is_refused(
    sealed: SealedIndex, damage: bytes | None, tmp_path: Path
) -> None:
    content = bytearray(sealed.to_bytes())
    content[len(content) // 2] ^= 1
    with pytest.raises(SealedIndexError):
        reread(bytes(content) if damage is None else damage, tmp_path)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    single, zipped, packed = (io.BytesIO() for _ in range(3))
    np.save(single, np.arange(3))
    with ZipFile(zipped, "w") as file:
        file.writestr("signature", "none")
        file.writestr("facts", "none")
    np.savez(packed, signature=np.arange(3))
    method_unknown = bytearray(packed.getvalue())
    method_unknown[method_unknown.rindex(b"PK\1\2") + 10] = 99
    for content in (single.getvalue(), zipped.getvalue(), bytes(method_unknown)):
        with pytest.raises(SealedIndexError, match="seal the suite again"):
            reread(content, tmp_path)
        with pytest.raises(ValueError, match="no file of arrays"):
            from_bytes(content)


def test_no_text_of_a_task_stands_in_its_index(sealed: SealedIndex) -> None:
    content = sealed.to_bytes()
    for root in KIT.iterdir():
        for part in PARTS:
            for text in features_of(root).texts(part):
                if len(text) > 8:
                    assert text.encode() not in content
        assert root.name.encode() not in content


def test_a_guess_is_tested_with_the_key_alone(sealed: SealedIndex) -> None:
    """The same text hashes to other numbers under another key, and for another part."""
    own, other = Sketcher(KEY), Sketcher(b"x" * 40)
    assert own.hash("prompt", "write the") != other.hash("prompt", "write the")
    assert own.hash("prompt", "write the") != own.hash("oracle", "write the")
    assert own.hash("prompt", "write the") == sealed.sketch.hash("prompt", "write the")


def test_a_share_is_of_the_tasks_weight() -> None:
    index = SealedIndex.build([sketch(1, *range(100)), sketch(2, *range(1000, 1010))], KEY)
    (found,) = index.compare(sketch(9, *range(60), *range(5000, 9000)))
    assert (found.task, found.is_exact) == (0, False)
    assert found.share["prompt"] == pytest.approx(0.6)
    assert found.evidence["prompt"] == pytest.approx(100)
    assert found.lacks["prompt"] == pytest.approx(40)


def test_what_many_tasks_have_weighs_less_and_at_last_nothing() -> None:
    tasks = [sketch(i, 7, *range(100 * i, 100 * i + 9)) for i in range(1, 9)]
    index = SealedIndex.build(tasks, KEY)
    assert index.compare(sketch(99, 7)) == []
    pair = SealedIndex.build([sketch(1, 7, 8), sketch(2, 7, 9)], KEY)
    shares = {s.task: s.share["prompt"] for s in pair.compare(sketch(99, 7))}
    assert shares == {0: pytest.approx(shares[1]), 1: pytest.approx(shares[0])}
    assert 0.25 < shares[0] < 0.5, "the feature of both weighs less than that of one"


@pytest.mark.parametrize(("own", "alike"), [(300, 10), (3_000, 0)])
def test_long_prompts_that_differ_in_little_count_as_one(own: int, alike: int) -> None:
    """Ten tasks of 5,000 features, `own` of them their own; counted as ten, the rest is no news."""
    rng = np.random.default_rng(2)
    features = rng.integers(1, 2**63, (11, 5_000), dtype=np.uint64)
    shared = features[10, own:]
    code = {part: np.arange(3, dtype=np.uint64) for part in PARTS}
    zero = np.zeros(1, np.uint64)
    prompts = [np.unique(np.concatenate([zero, shared, its[:own]])) for its in features[:10]]
    index = SealedIndex.build(
        [Sketch(n, {**code, "prompt": p}) for n, p in enumerate(prompts)], KEY
    )
    found = index.compare(sketch(99, *shared.tolist()))
    assert len([it for it in found if it.share["prompt"] > 0.9]) == alike


def test_what_two_common_packages_have_weighs_nothing() -> None:
    tasks = [sketch(1, 1, 2, 3, 4)]
    common = [sketch(11, 1, 2, 50), sketch(12, 1, 2, 60)]
    (found,) = SealedIndex.build(tasks, KEY, common=common).compare(sketch(9, 3, 4))
    assert found.share["prompt"] == pytest.approx(1.0)
    assert found.evidence["prompt"] == pytest.approx(2.0)


def test_a_sample_of_a_long_part_tells_its_share() -> None:
    rng = np.random.default_rng(1)
    features = rng.integers(0, 2**63, 20_000, dtype=np.uint64)
    index = SealedIndex.build([sketch(1, *features.tolist())], KEY)
    (found,) = index.compare(sketch(2, *features[:14_000].tolist()))
    assert found.share["prompt"] == pytest.approx(0.7, abs=0.1)
    assert found.evidence["prompt"] <= SAMPLE
    assert found.lacks["prompt"] == pytest.approx(6_000, rel=0.3), "of all, not of the sample"


def test_an_empty_index_is_like_nothing(tmp_path: Path) -> None:
    index = reread(SealedIndex.build([], KEY).to_bytes(), tmp_path)
    assert index.compare(index.sketch(features_of(next(KIT.iterdir())))) == []


def test_the_order_of_a_sealed_suite_says_nothing(tmp_path: Path) -> None:
    roots = sorted(KIT.iterdir())
    assert seal(roots, KEY, "v1").to_bytes() == seal(roots[::-1], KEY, "v1").to_bytes()
