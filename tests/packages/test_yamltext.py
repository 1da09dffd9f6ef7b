"""YAML from strangers: limits and positions."""

import pytest

from arena.packages.yamltext import YamlError, load_yaml

BOMB = "a: &a [x, x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        (BOMB, "aliases", 2),
        ("a: 1\nb: 2\na: 3\n", "stands twice", 3),
        ("a: [" * 50, "nested deeper", None),
        ("- x\n" * 20_000, "more than", None),
        ("a: !!python/object/apply:os.system [ls]\n", "not allowed", 1),
        ("a: !!python/name:os.system x\n", "could not determine a constructor", 1),
        ("? [a, b]\n: c\n", "plain word", 1),
        ("a: 'open\n", "", None),
        ("x" * 300_000, "KiB", None),
        ("a: \x07\n", "", None),
    ],
)
def test_what_is_refused(text: str, problem: str, line: int | None) -> None:
    with pytest.raises(YamlError) as caught:
        load_yaml(text)
    assert problem in caught.value.message
    if line:
        assert caught.value.line == line


def test_every_key_has_its_line() -> None:
    data, lines = load_yaml("a:\n  b: 1\n  c:\n    - x\n    - y: 2\n")
    assert data == {"a": {"b": 1, "c": ["x", {"y": 2}]}}
    assert (lines[("a", "b")], lines[("a", "c", 1)], lines[("a", "c", 1, "y")]) == (2, 5, 5)


def test_dates_stay_text() -> None:
    assert load_yaml("a: 2026-01-02").data == {"a": "2026-01-02"}
