"""Prose and code after normalisation: what survives a change of form, and what is told apart."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from arena.nearcopies.code import program_tokens, shell_tokens
from arena.nearcopies.prose import words

PROSE = "Read the ledger in /root/in.csv, then write each total to `total_eur` (12 lines)."


@pytest.mark.parametrize(
    "same",
    [
        "READ THE LEDGER IN /root/in.csv, THEN WRITE EACH TOTAL TO total_eur (7 LINES).",
        "**Read** the *ledger* in `/data/other.csv`; then write each total to `sum_usd` (99 lines)",
        "Read  the\tledger in /x/y.txt — then, write each total to a_b: 4 lines",
        "Reаd the lеdger in /root/in.csv, then write еach tоtal to `total_eur` (12 lines).",
        "Re\u200bad the ledger in /root/in.csv, then wr\u00adite each total to total_eur (12 lines).",
        "Ｒｅａｄ the ledger in /root/in.csv, then write each total to total_eur (12 lines).",
        "> Read the ledger in [/root/in.csv](/root/in.csv), then write each total to x_y (12 lines).",
        "| Read the ledger in /root/in.csv | then write each total to a_b | 12 lines |",
    ],
)
def test_prose_is_the_same_in_another_form(same: str) -> None:
    assert words(same) == words(PROSE)


def test_other_prose_is_other_prose() -> None:
    assert words("Sort the ledger in /root/in.csv") != words("Sort the roster in /root/in.csv")


def test_scripts_without_spaces_are_read_by_character() -> None:
    assert words("读取文件") == list("读取文件")


PROGRAM = '''
"""Adds up."""
import csv, json

def total(rows, rate=1.5):
    # a comment
    found = [float(row["amount"]) * rate for row in rows if row["kind"] == "sale"]
    return sum(found)

with open("/root/in.csv") as file:
    print(json.dumps(total(csv.DictReader(file))))
'''


def texts(program: str, path: str = "a.py") -> list[str]:
    return [token.text for token in program_tokens(program, path)]


def test_a_renamed_program_is_the_same() -> None:
    renamed = (
        PROGRAM.replace("total", "addition")
        .replace("rows", "entries")
        .replace("row", "entry")
        .replace("rate", "factor")
        .replace("found", "parts")
        .replace('"amount"', '"betrag"')
        .replace("1.5", "2.25")
        .replace("/root/in.csv", "/srv/data.csv")
        .replace("# a comment", "# quite another one, and longer")
        .replace('"""Adds up."""', "")
    )
    assert texts(renamed) == texts(PROGRAM)


@pytest.mark.parametrize(
    ("old", "new"),
    [("sum(found)", "max(found)"), ("csv.DictReader", "csv.reader"), ("* rate", "+ rate")],
)
def test_a_program_that_does_something_else_is_another(old: str, new: str) -> None:
    assert texts(PROGRAM.replace(old, new)) != texts(PROGRAM)


def test_a_renamed_script_is_the_same() -> None:
    script = '#!/bin/sh\nset -eu\nout=/root/a.txt\nif grep -q "$word" "$out"; then\n  cp $out /srv/b\nfi\n'
    renamed = (
        "#!/bin/bash\n# says nothing\nset -eu\n\ntarget='/home/z.txt'\n"
        'if grep -q "$needle" "$target"; then cp $target /mnt/c; fi\n'
    )
    tokens = lambda text: [t.text for t in shell_tokens(text) if t.text not in ("S", "P")]  # noqa: E731
    assert tokens(renamed) == tokens(script)
    assert tokens(script.replace("cp", "mv")) != tokens(script)


def test_programs_inside_a_script_count_as_what_they_do() -> None:
    outside = "python3 - <<'EOF'\nimport json\nname = json.load(open('/a'))\nprint(name)\nEOF\n"
    renamed = outside.replace("name", "other").replace("EOF", "STOP")
    assert [t.text for t in shell_tokens(renamed)] == [t.text for t in shell_tokens(outside)]
    assert "json" in [t.text for t in shell_tokens(outside)]
    awk = shell_tokens("awk -F, '{ total += $3 } END { print total }' /root/in.csv")
    assert "END" in [t.text for t in awk]


def test_a_program_that_a_script_writes_counts_as_what_it_does() -> None:
    script = "cat > a.py <<'X'\nimport json\nfor row in json.load(b):\n    print(row)\nX\n"
    other = "cat > a.py <<'X'\nimport json\n\n# says\nfor it in json.load(b):\n  print(it)\nX\n"
    assert [t.text for t in shell_tokens(other)] == [t.text for t in shell_tokens(script)]
    behind = script.replace("> a.py <<'X'", "<<'X' > a.py")
    assert {".load", "print"} <= {t.text for t in shell_tokens(behind)}
    bash = "cat > tool <<'X'\n#!/bin/bash\nfor f in *; do mv -- $f b; done\nX\n"
    other = bash.replace("for", "# for all\nfor").replace("$f", "$g").replace("r f", "r g")
    assert [t.text for t in shell_tokens(other)] == [t.text for t in shell_tokens(bash)]


def test_prose_in_a_comment_names_nothing() -> None:
    program = "for row in rows:\n    print(row.items())\n"
    assert texts(f"# same as in the other, for print\n{program}") == texts(program)


def test_tokens_know_their_lines() -> None:
    tokens = shell_tokens("echo a\n\npython3 - <<'X'\nprint(1)\nX\nls /\n")
    assert [(t.text, t.line) for t in tokens if t.text in ("echo", "print", "ls")] == [
        ("echo", 1),
        ("print", 4),
        ("ls", 6),
    ]


def test_a_language_with_other_comments() -> None:
    script = "// says\nfunction f(a) { return Math.max(a, 2); } /* and\nmore */\n"
    assert texts(script, "a.js") == texts("function g(b) { return Math.max(b, 7); }", "a.js")


UNITS = [
    "\n",
    '"""',
    "/*",
    "${",
    "<<A\n",
    "'",
    '"',
    "a",
    " ",
    "a ",
    "a:",
    "\\",
    "\\\n",
    "(",
    "import a\n",
]
UNITS += [
    "awk '",
    '"\\',
    "def ",
    "1.",
    "а",
    "\u0301",
    "漢",
    "`",
    "a=",
    "from a import b,",
    "<<A\n\n",
    "sh <<A\n",
    "cat > a.sh <<A\n",
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "read", [shell_tokens, program_tokens, lambda t: program_tokens(t, "a.js"), words]
)
def test_hostile_text_costs_what_its_length_costs(
    unit: str, read: Callable[[str], list[object]]
) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        times = []
        for _ in range(2):
            began = time.process_time()
            read(text)
            times.append(time.process_time() - began)
        return min(times)

    # sixteen times the text in less than 64 times the time, which would be 256, were it squared
    assert seconds(32_000) < 64 * max(seconds(2_000), 0.001)
