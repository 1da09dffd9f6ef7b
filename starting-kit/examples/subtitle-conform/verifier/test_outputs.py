"""Checks /root/out against the subtitles, anchors and limits that stand beside this file.

The agent may have changed its own copies of them, so they are not read.
"""

import json
import re
import unittest
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

OUT = Path("/root/out")
HERE = Path(__file__).parent
MAX_BYTES = 1_000_000

START_TOLERANCE_MS = 2
END_TOLERANCE_MS = 5
RATE_TOLERANCE = 0.00001
OFFSET_TOLERANCE_MS = 1

CLOCK = r"(\d\d):(\d\d):(\d\d)[,.](\d\d\d)"
WRITTEN_TIMES = re.compile(r"\d\d:\d\d:\d\d,\d\d\d --> \d\d:\d\d:\d\d,\d\d\d", re.ASCII)


class Cue(NamedTuple):
    number: int
    start: int
    end: int
    """In milliseconds, as the start."""
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.lines)

    @property
    def visible(self) -> str:
        return without_tags(self.text)


class Expected(NamedTuple):
    kept: list[Cue]
    """With their old numbers and times, and their new text on lines of any length."""
    dropped: list[int]
    rate: Fraction
    offset: Fraction

    def start(self, i: int) -> int:
        return round(self.rate * self.kept[i].start + self.offset)


def without_tags(text: str) -> str:
    return re.sub(r"</?i>", "", text)


def milliseconds(clock: str) -> int:
    match = re.fullmatch(CLOCK, clock.strip())
    if match is None:
        raise AssertionError(f"{clock!r} is no time")
    hours, minutes, seconds, ms = map(int, match.groups())
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms


def source_cues() -> Iterator[Cue]:
    text = (HERE / "episode.srt").read_text(encoding="utf-8-sig")  # makes LF of CRLF, too
    for block in re.split(r"\n{2,}", text.strip()):
        number, times, *lines = block.split("\n")
        start, end = map(milliseconds, times.split("-->"))
        yield Cue(int(number), start, end, tuple(line.strip() for line in lines))


def cleaned(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The text that is to stay; a dialogue on its lines, anything else on one."""
    if all(line.startswith("- ") for line in lines):
        return lines
    text = re.sub(r"\[[^\]]*\]", " ", "\n".join(lines)).strip()
    name, colon, rest = text.partition(":")
    if colon and name.isupper() and rest[:1].isspace():
        text = rest
    text = re.sub(r"\s+", " ", text).strip()
    return (re.sub(r"(<i>) | (</i>)", r"\1\2", text),)


def expected() -> Expected:
    kept, dropped, seen = [], [], set()
    cues = list(source_cues())
    for cue in cues:
        lines = cleaned(cue.lines)
        if cue[1:] in seen or not without_tags("".join(lines)):
            dropped.append(cue.number)
        else:
            kept.append(cue._replace(lines=lines))
        seen.add(cue[1:])
    anchors = json.loads((HERE / "anchors.json").read_text(encoding="utf-8"))
    old = {cue.number: cue.start for cue in cues}
    (x0, y0), (x1, y1) = ((old[a["cue"]], milliseconds(a["start"])) for a in anchors)
    rate = Fraction(y1 - y0, x1 - x0)
    kept.sort(key=lambda cue: cue.start)
    return Expected(kept, sorted(dropped), rate, y0 - rate * x0)


def read(name: str) -> str:
    """What the agent wrote. Raises AssertionError where it wrote nothing."""
    path = OUT / name
    if not path.is_file():
        raise AssertionError(f"{path} was not written")
    with path.open("rb") as file:
        return file.read(MAX_BYTES).decode("utf-8")


def written_cues() -> list[Cue]:
    """The cues of the agent's file, read without forgiveness."""
    text = read("episode.srt")
    if text.startswith("\ufeff") or "\r" in text:
        raise AssertionError("episode.srt has a byte order mark or carriage returns")
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip():
            raise AssertionError(f"episode.srt, line {number} ends with white space")
    cues = []
    for n, block in enumerate(text.rstrip("\n").split("\n\n"), 1):
        number, _, rest = block.partition("\n")
        times, _, body = rest.partition("\n")
        if number != str(n) or not WRITTEN_TIMES.fullmatch(times) or not body:
            raise AssertionError(f"episode.srt, cue {n} is not a number, times and text: {block!r}")
        start, end = map(milliseconds, times.split("-->"))
        cues.append(Cue(n, start, end, tuple(body.split("\n"))))
    return cues


class Subtitles(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.style = json.loads((HERE / "style.json").read_text(encoding="utf-8"))
        cls.expected = expected()
        cls.found = written_cues()

    def pairs(self) -> list[tuple[Cue, Cue]]:
        """Each written cue with what it was made of."""
        kept = self.expected.kept
        self.assertEqual(len(self.found), len(kept), "the number of cues")
        return list(zip(self.found, kept, strict=True))

    def test_text(self) -> None:
        for cue, source in self.pairs():
            self.assertEqual(cue.text, source.text, f"cue {cue.number}")

    def test_lines(self) -> None:
        longest = self.style["max_chars_per_line"]
        for cue, source in self.pairs():
            lengths = [len(without_tags(line)) for line in cue.lines]
            what = f"cue {cue.number}, lines of {lengths} characters"
            if len(source.lines) > 1:
                self.assertEqual(cue.lines, source.lines, f"{what}: a dialogue")
                continue
            self.assertLessEqual(max(lengths), longest, what)
            fits = len(source.visible) <= longest
            self.assertLessEqual(len(lengths), 1 if fits else self.style["max_lines"], what)

    def test_starts(self) -> None:
        for i, (cue, _) in enumerate(self.pairs()):
            wanted = self.expected.start(i)
            what = f"cue {cue.number}: start, in ms"
            self.assertAlmostEqual(cue.start, wanted, delta=START_TOLERANCE_MS, msg=what)

    def test_ends(self) -> None:
        """Each end is where the mapping puts it, or at the limit that it would break there."""
        style = self.style
        for i, (cue, source) in enumerate(self.pairs()):
            start = self.expected.start(i)
            reading = Fraction(len(source.visible) * 1000, style["max_chars_per_second"])
            earliest = start + max(Fraction(style["min_duration_ms"]), reading)
            latest = Fraction(start + style["max_duration_ms"])
            if i + 1 < len(self.found):
                latest = min(latest, Fraction(self.expected.start(i + 1) - style["min_gap_ms"]))
            mapped = self.expected.rate * source.end + self.expected.offset
            wanted = round(min(max(mapped, earliest), latest))
            what = f"cue {cue.number}: end, in ms"
            self.assertAlmostEqual(cue.end, wanted, delta=END_TOLERANCE_MS, msg=what)

    def test_limits_hold_as_written(self) -> None:
        style = self.style
        for cue, after in zip(self.found, [*self.found[1:], None], strict=True):
            duration, what = cue.end - cue.start, f"cue {cue.number}"
            self.assertGreaterEqual(duration, style["min_duration_ms"], f"{what}: duration")
            self.assertLessEqual(duration, style["max_duration_ms"], f"{what}: duration")
            speed = Fraction(len(cue.visible) * 1000, duration)
            self.assertLessEqual(speed, style["max_chars_per_second"], f"{what}: reading speed")
            if after is not None:
                gap = after.start - cue.end
                self.assertGreaterEqual(gap, style["min_gap_ms"], f"{what}: gap after it")

    def test_report(self) -> None:
        report, wanted = json.loads(read("report.json")), self.expected
        self.assertEqual(set(report), {"cues", "dropped", "rate", "offset_ms"})
        self.assertEqual(report["cues"], len(wanted.kept))
        self.assertEqual(report["dropped"], wanted.dropped)
        self.assertAlmostEqual(report["rate"], float(wanted.rate), delta=RATE_TOLERANCE)
        offset = float(wanted.offset)
        self.assertAlmostEqual(report["offset_ms"], offset, delta=OFFSET_TOLERANCE_MS)


if __name__ == "__main__":
    unittest.main()
