"""Reading a reward: plainly a number in [0, 1], or an error."""

from __future__ import annotations

import pytest

from arena.sandbox.reward import JSON, MAX_BYTES, TEXT, InvalidReward, read_reward


@pytest.mark.parametrize(
    ("text", "reward"),
    [("1", 1), ("1.0\n", 1), (" 1.00 ", 1), ("0", 0), ("-0", 0), ("5e-1", 0.5), (".25", 0.25)],
)
def test_numbers_are_numbers_however_written(text: str, reward: float) -> None:
    assert read_reward({TEXT: text.encode()}) == reward


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        ('{"reward": 1}', 1),
        ('{"reward": 0.5, "note": "close"}', 0.5),
        ('{"accuracy": 0.25}', 0.25),
    ],
)
def test_json_names_its_reward_or_holds_one_number(text: str, reward: float) -> None:
    assert read_reward({JSON: text.encode()}) == reward


def test_several_numbers_beside_a_text_are_details() -> None:
    assert read_reward({TEXT: b"0.5", JSON: b'{"speed": 1, "style": 0}'}) == 0.5


@pytest.mark.parametrize(("text", "data"), [("1", '{"reward": 1.0}'), ("0.1", '{"reward": 1e-1}')])
def test_text_and_json_agree_as_numbers(text: str, data: str) -> None:
    assert read_reward({TEXT: text.encode(), JSON: data.encode()}) == float(text)


BAD_TEXTS = ["", "nan", "inf", "-inf", "Infinity", "1.1", "-0.1", "1e400", "yes", "true", "[1]"]
BAD_TEXTS += ["1 0", "1\n1", "1,0", "1_0", "0x1", "１", "1/2", "\ufeff1"]


@pytest.mark.parametrize("text", BAD_TEXTS)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InvalidReward):
        read_reward({TEXT: text.encode()})


BAD_JSON = ["", "{", "1", "[1]", '"1"', "null", "{}", '{"reward": "1"}', '{"reward": true}']
BAD_JSON += ['{"reward": [1]}', '{"reward": null}', '{"reward": NaN}', '{"reward": Infinity}']
BAD_JSON += ['{"reward": 2}', '{"reward": -1}', '{"reward": 1e999}', '{"reward": 0, "reward": 1}']
BAD_JSON += ['{"a": 1, "b": 1}', '{"a": true}', '{"reward": 1, "x": NaN}', "[" * 100_000]
BAD_JSON += ['{"reward": 1' + "0" * 400 + "}"]


@pytest.mark.parametrize("text", BAD_JSON)
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidReward):
        read_reward({JSON: text.encode()})


@pytest.mark.parametrize(
    "files",
    [
        {},
        {TEXT: None},
        {JSON: None},
        {TEXT: b"\xff1"},
        {TEXT: b"1" + b" " * MAX_BYTES},
        {TEXT: b"1", JSON: b'{"reward": 0}'},
        {TEXT: b"0.333", JSON: b'{"reward": 0.3333}'},
        {TEXT: b"1", JSON: b"nonsense"},
        {TEXT: b"nonsense", JSON: b'{"reward": 1}'},
    ],
)
def test_missing_broken_and_contradicting_files_are_refused(files: dict[str, bytes | None]) -> None:
    with pytest.raises(InvalidReward):
        read_reward(files)
