"""A template of shell tasks: choose files of a tree, take a figure of each, report the figures."""

from __future__ import annotations

import random
from typing import NamedTuple

from bench.nearcopies import originals
from bench.nearcopies.originals import Package, Spec

STORIES = [
    (
        "software-engineering",
        "traces",
        "trace",
        "The profiler left its traces in a tree of folders.",
    ),
    (
        "media-content-production",
        "scripts",
        "scene",
        "A theatre keeps each scene of a play in a file.",
    ),
    ("natural-science", "diaries", "day", "Field biologists wrote a diary a day."),
    ("office-white-collar", "minutes", "txt", "The minutes of all meetings were scanned."),
    ("cybersecurity", "dumps", "dump", "A sandbox dumps what its samples printed."),
    ("finance-economics", "slips", "slip", "Deposit slips are typed up in small files."),
    ("industrial-physical-systems", "shifts", "log", "Each shift of the plant writes a log."),
    ("software-engineering", "snippets", "snip", "Snippets of the wiki were exported one a file."),
]
SELECTIONS = [
    ("larger than 300 bytes", "-size +300c", "p.stat().st_size > 300"),
    ("whose name has an `e`", "-name '*e*.*'", "'e' in p.stem"),
    ("outside of folders called `old`", "! -path '*/old/*'", "'old' not in p.parts"),
    ("that stand directly in it", "-maxdepth 1", "p.parent == base"),
    ("in folders below it alone", "-mindepth 2", "p.parent != base"),
]
MEASURES = [
    ("the number of its lines", 'wc -l < "$f"', "text.count('\\n')"),
    (
        "in how many lines `amber` stands",
        'grep -c amber "$f" || true',
        "sum('amber' in l for l in lines)",
    ),
    ("how many different lines it has", 'sort -u "$f" | wc -l', "len(set(lines))"),
    ("the words in its first line", 'head -n 1 "$f" | wc -w', "len(lines[0].split())"),
    ("how many digits it holds", 'tr -cd 0-9 < "$f" | wc -c', "sum(c.isdigit() for c in text)"),
    (
        "the number of its words",
        "awk '{ n += NF } END { print n + 0 }' \"$f\"",
        "len(text.split())",
    ),
    (
        "the length of its longest line",
        "awk 'length > n { n = length } END { print n }' \"$f\"",
        "max(map(len, lines))",
    ),
]
REPORTS = [
    (
        "the three files with the highest figures, as lines `figure path`, ties by path",
        "sort -k1,1nr -k2 | head -n 3",
        "[f'{n} {path}' for n, path in sorted(found, key=lambda it: (-it[0], it[1]))[:3]]",
    ),
    (
        "the total of these figures alone",
        "awk '{ s += $1 } END { print s + 0 }'",
        "[str(sum(n for n, _ in found))]",
    ),
    (
        "the paths of the files with a figure above five, in order",
        "awk '$1 > 5 { print $2 }' | sort",
        "sorted(path for n, path in found if n > 5)",
    ),
    (
        "lines `figure count`: how many files have each figure, by figure",
        "cut -d' ' -f1 | sort -n | uniq -c | awk '{ print $2, $1 }'",
        "[f'{n} {c}' for n, c in sorted(collections.Counter(n for n, _ in found).items())]",
    ),
    (
        "one line of `path=figure` by path, with commas between",
        "sort -k2 | awk '{ print $2 \"=\" $1 }' | paste -sd, -",
        "[','.join(f'{path}={n}' for n, path in sorted(found, key=lambda it: it[1]))]",
    ),
]
_SOLVE = """\
export LC_ALL=C
cd /root/data/{folder}
find . {select} -type f -name '*.{ending}' | sort | while read -r f; do
  n=$({measure})
  echo "$((n)) ${{f#./}}"
done | {report} > /root/{folder}.txt
"""
_CHECK = """\
def test_{folder}():
    import collections
    base = DATA / "{folder}"
    found = []
    for p in sorted(base.rglob("*.{ending}")):
        text = p.read_text()
        lines = text.splitlines()
        if {select}:
            found.append(({measure}, p.relative_to(base).as_posix()))
    wanted = {report}
    assert (ROOT / "{folder}.txt").read_text().splitlines() == wanted and collections
"""
_FOLDERS = ["", "old/", "new/", "new/old/"]


class Pipeline(NamedTuple):
    """A task of the template: places in the lists above."""

    story: int
    selection: int
    measure: int
    report: int


def pipeline(task: Pipeline) -> Package:
    """The package of one task."""
    domain, folder, ending, opening = STORIES[task.story]
    select, find, condition = SELECTIONS[task.selection]
    measure, command, figure = MEASURES[task.measure]
    report, finish, wanted = REPORTS[task.report]
    prompt = (
        f"{opening} For every `*.{ending}` in `/root/data/{folder}` {select}, find {measure}. "
        f"Save {report}, to `/root/{folder}.txt`; paths are relative to that folder.\n"
    )
    names = {"folder": folder, "ending": ending}
    oracle = _SOLVE.format(**names, select=find, measure=command, report=finish)
    checks = _CHECK.format(**names, select=condition, measure=figure, report=wanted)
    chance = random.Random(str(task))
    files = tuple(
        ("file", f"data/{folder}/{place}{name}.{ending}", _text(chance))
        for place in _FOLDERS
        for name in chance.sample(originals.WORDS, 3)
    )
    sections = (("prompt", "", prompt), *files, ("oracle", "sh", oracle), ("checks", "", checks))
    name = f"{folder}-{'-'.join(map(str, task))}"
    return originals.build(Spec("pipelines", name, domain, sections))


def _text(chance: random.Random) -> str:
    lines = [
        " ".join([*chance.choices(originals.WORDS, k=chance.randint(1, 6)), str(number % 4)])
        for number in range(chance.randint(3, 20))
    ]
    return "\n".join(lines) + "\n"
