"""Innocent neighbours: packages with other goals than any in the suite, yet much in common with it.

Three groups, and in none are the packages independent of each other:
- `other task of the family`: an original, judged against a suite without it;
- `other question, same data`: an original's files drawn anew, and one of 15 questions about them;
- `same template`: tables with one of many filters, figures and outputs, whose prompts and programs
  come from one template; a few stand in the suite, and differ in two of the three at least.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bench.nearcopies import originals
from bench.nearcopies.mutations import NEW_WORDS
from bench.nearcopies.originals import Package, Spec

SUITE_TABLES = 6
TABLES = 1300

_STORIES = [
    *("cybersecurity|alerts|sensor|score|A security desk scores its alerts by sensor.",),
    *("finance-economics|fees|branch|cents|A bank keeps the fees that its branches took.",),
    *("natural-science|catches|lake|grams|Biologists weighed the fish of several lakes.",),
    *("office-white-collar|leave|team|hours|Personnel notes the hours that teams were away.",),
    *("software-engineering|builds|project|seconds|Our build farm records how long builds took.",),
    *("media-content-production|views|show|minutes|A broadcaster counts the minutes viewed.",),
    *("industrial-physical-systems|loads|crane|kilos|A port weighs what its cranes lift.",),
    *("natural-science|rain|station|tenths|Weather stations report rain in tenths of a mm.",),
    *("office-white-collar|prints|floor|sheets|Facilities wants to know who prints so much.",),
    *("finance-economics|tips|waiter|coins|A restaurant collects the tips of its waiters.",),
    *("software-engineering|crashes|module|lines|Crash reports hold modules and traces.",),
    *("cybersecurity|logins|gateway|tries|Gateways log how many tries a login needed.",),
    *("industrial-physical-systems|welds|robot|amps|Robots write the current of each weld.",),
    *("media-content-production|prints|gallery|copies|Galleries order copies of photographs.",),
    *("natural-science|nests|island|eggs|Wardens counted the eggs in nests on islands.",),
    *("office-white-collar|parcels|carrier|days|The mail room notes how long parcels travel.",),
]
_FILTERS = [
    "|True",
    "Only rows with more than 40 {value} count.|row['value'] > 40",
    "Rows whose id is even are test entries and must be ignored.|row['id'] % 2",
    "Leave out what `{first}` reported.|row['key'] != '{first}'",
    "Only ids up to 60 belong to this season.|row['id'] <= 60",
    "Values that end in zero are estimates, which don't count.|row['value'] % 10",
    "Take weekdays alone: ids divisible by seven are Sundays.|row['id'] % 7",
]
_FIGURES = [
    "the sum of its {value}|sum(v)|sum(v)",
    "its highest {value}|max(v)|sorted(v)[-1]",
    "its lowest {value}|min(v)|sorted(v)[0]",
    "the lower median of its {value}|sorted(v)[(len(v) - 1) // 2]|statistics.median_low(v)",
    "how many different {value} it has|len(set(v))|len(dict.fromkeys(v))",
    "the difference of its last and first {value}|v[-1] - v[0]|v[len(v) - 1] - v[0]",
    "the greatest common divisor of its {value}|functools.reduce(math.gcd, v)|math.gcd(*v)",
    "the largest rise from one of its {value} to the next, 0 if none|"
    "max([b - a for a, b in zip(v, v[1:])] + [0])|"
    "max([0] + [v[i + 1] - v[i] for i in range(len(v) - 1)])",
    "the remainder modulo 97 of the product of its {value}|math.prod(v) % 97|"
    "functools.reduce(lambda a, b: a * b % 97, v, 1)",
    "the value that it has most often, the smallest of several|"
    "min(v, key=lambda x: (-v.count(x), x))|sorted(v, key=lambda x: (-v.count(x), x))[0]",
]
_OUTPUTS = [
    "a JSON object by {key}, `/root/result.json`|json.dump(figures, open('result.json', 'w'))|"
    "assert json.load(open(ROOT / 'result.json')) == wanted",
    "lines `{key} figure` by {key} in `/root/result.txt`|"
    "open('result.txt', 'w').writelines(f'{{k}} {{figures[k]}}\\n' for k in sorted(figures))|"
    "assert dict(l.split() for l in open(ROOT / 'result.txt')) == "
    "{{k: str(w) for k, w in wanted.items()}}",
    "`/root/top.json`, a list of the three {key}s with the highest figures (ties by name)|"
    "json.dump(sorted(figures, key=lambda k: (-figures[k], k))[:3], open('top.json', 'w'))|"
    "assert json.load(open(ROOT / 'top.json')) == "
    "[k for _, k in sorted((-w, k) for k, w in wanted.items())][:3]",
    "the total of these figures over all {key}s, alone in `/root/total.txt`|"
    "print(sum(figures.values()), file=open('total.txt', 'w'))|"
    "assert int((ROOT / 'total.txt').read_text()) == sum(wanted.values())",
]
_READ = """\
import functools, json, math
groups = {{}}
for line in open("data/{stem}.csv").readlines()[1:]:
    number, key, value = line.strip().split(",")
    row = {{"id": int(number), "key": key, "value": int(value)}}
    if {filter}:
        groups.setdefault(row["key"], []).append(row["value"])
figures = {{key: {figure} for key, v in groups.items()}}
{output}
"""
_CHECK = """\
def test_{stem}():
    import functools, math, statistics
    given = [(int(r["id"]), r["{key}"], int(r["{value}"])) for r in rows("{stem}.csv")]
    table = [dict(zip(("id", "key", "value"), one)) for one in given]
    kept = [row for row in table if {filter}]
    wanted = {{}}
    for name in {{row["key"] for row in kept}}:
        v = [row["value"] for row in kept if row["key"] == name]
        wanted[name] = {figure}
    {output}
"""


class Table(NamedTuple):
    """A task of the template: places in the lists above."""

    story: int
    filter: int
    figure: int
    output: int


def table(task: Table) -> Package:
    """The package of one task of the template."""
    chance = random.Random(str(task))
    domain, stem, key, value, opening = _STORIES[task.story].split("|")
    keys = chance.sample(NEW_WORDS, 5)
    names = {"stem": stem, "key": key, "value": value, "first": keys[0]}
    said, test = _FILTERS[task.filter].split("|")
    figure, own, check = _FIGURES[task.figure].split("|")
    output, write, compare = (one.format(**names) for one in _OUTPUTS[task.output].split("|"))
    prompt = (
        f"{opening} `/root/data/{stem}.csv` has the columns id, {key} and {value}. {said} Compute "
    )
    prompt += f"for each {key} {figure}, in order of the file. Give {output}.\n"
    names["filter"] = test.format(**names)
    data = f"!id,{key},{value}\n{{seq}},{{pick:{'|'.join(keys)}}},{{int:2-99}}\n"
    sections = (
        ("prompt", "", re.sub(" +", " ", prompt.format(**names))),
        ("data", f"{stem}.csv 90", data),
        ("oracle", "python", _READ.format(**names, figure=own, output=write)),
        ("checks", "", _CHECK.format(**names, figure=check, output=compare)),
    )
    name = f"{stem}-{'-'.join(map(str, task))}"
    return originals.build(Spec("tables", name, domain, sections))


def every_table() -> list[Table]:
    """All tasks of the template."""
    lists = (_STORIES, _FILTERS, _FIGURES, _OUTPUTS)
    return [Table(*one) for one in itertools.product(*(range(len(one)) for one in lists))]


def _tables() -> tuple[list[Table], list[Table]]:
    """Tasks of the suite, and innocent ones: other story, two of the three parts others."""
    every = every_table()
    chance = random.Random("tables")
    chance.shuffle(every)
    suite = every[:SUITE_TABLES]
    innocent = [one for one in every[SUITE_TABLES:] if all(_differ(one, other) for other in suite)]
    return suite, innocent[:TABLES]


def _differ(one: Table, other: Table) -> bool:
    parts = zip(one[1:], other[1:], strict=True)
    return one.story != other.story and sum(a != b for a, b in parts) >= 2


def suite_tables() -> dict[str, Package]:
    """The template's tasks that belong into the suite."""
    return {f"table-{n}": table(one) for n, one in enumerate(_tables()[0])}


def same_template() -> Iterator[tuple[str, Package]]:
    for number, one in enumerate(_tables()[1]):
        yield f"innocent-table-{number}", table(one)


@cache
def _questions() -> dict[str, tuple[str, str, str]]:
    """Prompt, oracle and checks of each question, with a place for the file's name."""
    text = (Path(__file__).parent / "questions.txt").read_text(encoding="utf-8")
    pieces = re.split(r"^=== (\w+)\n|^--- \w+\n", text, flags=re.M)[1:]
    texts = [one for one in pieces if one is not None]
    return {texts[n]: (texts[n + 1], texts[n + 2], texts[n + 3]) for n in range(0, len(texts), 4)}


def same_data() -> Iterator[tuple[str, Package]]:
    """Each synthetic original's files, with other data, and every question about the first."""
    for spec in originals.specs():
        for asked in questions_about(spec):
            yield asked.name, originals.build(asked, seed=7)


def questions_about(spec: Spec) -> Iterator[Spec]:
    """Every question about the first file of a task; `family` is the question's name."""
    for question, texts in _questions().items():
        files = tuple(one for one in spec.sections if one[0] in {"data", "file"})
        file = PurePosixPath(files[0][1].split()[0]).name
        prompt, oracle, checks = (text.format(file=file) for text in texts)
        sections = (
            ("prompt", "", prompt),
            *files,
            ("oracle", "python", f"import json\n{oracle}"),
            ("checks", "", checks),
        )
        yield Spec(question, f"{spec.name}-{question}", spec.domain, sections)
