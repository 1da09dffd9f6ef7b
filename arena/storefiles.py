"""The results dataset's files: their names, their lines, and what becomes of them in time.

A commit adds `data/<kind>/<first seq>.jsonl`. Compaction puts those of a month into
`data/<kind>/<year>-<month>.jsonl`, and the months of a past year into `data/<kind>/<year>.jsonl`,
line by line and unread, so that a record of a newer schema or a corrupt line is carried along.
They stay JSON lines, since a dataset config holds files of one format only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from arena.records import AnyRecord, Record, UnreadRecord, dump_record, parse_record

_TAIL = re.compile(r"data/(?P<kind>[a-z_]+)/(?P<first>\d{9,})\.jsonl")
_MERGED = re.compile(r"data/(?P<kind>[a-z_]+)/(?P<period>\d{4}(-\d{2})?)\.jsonl")
_SEQ = re.compile(rb'\{"seq":(\d+),')
_AT = re.compile(rb'"at":"(\d{4}-\d{2})-')


class Unreadable(NamedTuple):
    """A line of the store that is no record, or one that contradicts the others."""

    path: str
    line: int
    problem: str


class Lines(NamedTuple):
    """A file, read: its records after some `seq`, its unreadable lines, the last place it takes."""

    records: list[AnyRecord | UnreadRecord]
    unreadable: list[Unreadable]
    last: int


def is_tail(path: str) -> bool:
    """Whether a file is one that a commit added, and that nothing ever changes."""
    return _TAIL.fullmatch(path) is not None


def is_data(path: str) -> bool:
    """Whether a file holds records."""
    return is_tail(path) or _MERGED.fullmatch(path) is not None


def files_of(records: Sequence[Record]) -> dict[str, bytes]:
    """The files that a commit of `records` adds, by path."""
    by_kind: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_kind[record.kind].append(record)  # type: ignore[attr-defined]
    return {
        f"data/{kind}/{group[0].seq:09d}.jsonl": "".join(
            dump_record(record) + "\n" for record in group
        ).encode()
        for kind, group in by_kind.items()
    }


def read_lines(path: str, content: bytes, after: int) -> Lines:
    """The records of a file whose `seq` is over `after`; those before are known already."""
    records: list[AnyRecord | UnreadRecord] = []
    unreadable: list[Unreadable] = []
    tail = _TAIL.fullmatch(path)
    last = int(tail["first"]) - 1 if tail else 0
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        seq = _seq(line)
        last = max(last + 1 if tail else last, seq)
        if 0 < seq <= after:
            continue
        try:
            records.append(parse_record(line))
        except ValidationError as exc:
            first = exc.errors(include_input=False, include_url=False, include_context=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            unreadable.append(Unreadable(path, number, f"{where}: {first['msg']}".lstrip(": ")))
    return Lines(records, unreadable, last)


def merges(paths: Iterable[str], contents: Mapping[str, bytes], year: str) -> dict[str, list[str]]:
    """Which files go into which: the new path, and the old ones in order. `year` is this one.

    Args:
        contents: of the tail files, by path.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(paths):
        merged, tail = _MERGED.fullmatch(path), _TAIL.fullmatch(path)
        if merged:
            period = merged["period"]
            kind = merged["kind"]
        elif tail and (first := _AT.search(contents[path].split(b"\n", 1)[0])):
            period = first[1].decode()
            kind = tail["kind"]
        else:
            continue  # not to be dated: it stays as it is
        period = period if period[:4] == year else period[:4]
        found[f"data/{kind}/{period}.jsonl"].append(path)
    return {new: olds for new, olds in found.items() if olds != [new]}


def merged(contents: Iterable[bytes]) -> bytes:
    """The lines of several files, by `seq`; what has none stays where it stood."""
    lines: list[tuple[int, bytes]] = []
    for content in contents:
        last = 0
        for line in filter(None, content.split(b"\n")):
            last = _seq(line) or last
            lines.append((last, line))
    lines.sort(key=lambda pair: pair[0])
    return b"".join(line + b"\n" for _, line in lines)


def _seq(line: bytes) -> int:
    found = _SEQ.match(line)
    return int(found[1]) if found else 0
