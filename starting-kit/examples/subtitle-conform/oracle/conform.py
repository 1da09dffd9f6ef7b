"""Conforms subtitles to the master and the style: `python3 conform.py DATA_DIR OUT_DIR`."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from pathlib import Path

BLOCK = re.compile(
    r"^(?P<number>\d+)[ ]*\n(?P<start>[\d:.,]+) --> (?P<end>[\d:.,]+)[ ]*\n(?P<text>(?:.+\n)+)",
    re.M,
)
TAG = re.compile(r"</?i>")


@dataclass
class Cue:
    """Times in milliseconds; `text` keeps the line breaks of the file until it is broken anew."""

    number: int
    start: int
    end: int
    text: str

    @property
    def length(self) -> int:
        return len(TAG.sub("", self.text))


def to_ms(clock: str) -> int:
    hours, minutes, seconds, ms = (int(part) for part in re.split("[:.,]", clock))
    return hours * 3_600_000 + minutes * 60_000 + seconds * 1000 + ms


def to_clock(ms: int) -> str:
    seconds, ms = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02},{ms:03}"


def parse(path: Path) -> list[Cue]:
    text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n") + "\n"
    cues = []
    for match in BLOCK.finditer(text):
        lines = [line.rstrip() for line in match["text"].splitlines()]
        times = to_ms(match["start"]), to_ms(match["end"])
        cues.append(Cue(int(match["number"]), *times, "\n".join(lines)))
    return cues


def is_dialogue(text: str) -> bool:
    return all(line.startswith("- ") for line in text.split("\n"))


def clean(text: str) -> str:
    if is_dialogue(text):
        return text
    text = re.sub(r"\[.*?\]", "", text, flags=re.DOTALL).strip()
    speaker = re.match(r"([^:]+):\s", text)
    if speaker and speaker[1].upper() == speaker[1] and speaker[1].lower() != speaker[1]:
        text = text[speaker.end() :]
    words = " ".join(text.split())
    return words.replace("<i> ", "<i>").replace(" </i>", "</i>")


def select(cues: list[Cue]) -> tuple[list[Cue], list[int]]:
    """The cues that stay, cleaned, in order of start; and the numbers of the others."""
    kept, dropped, seen = [], [], set()
    for cue in cues:
        key = (cue.start, cue.end, cue.text)
        cue.text = clean(cue.text)
        if key in seen or cue.length == 0:
            dropped.append(cue.number)
        else:
            kept.append(cue)
        seen.add(key)
    return sorted(kept, key=lambda cue: cue.start), sorted(dropped)


def wrap(text: str, width: int) -> str:
    """Breaks a text that is too long where the two lines are most alike."""
    if is_dialogue(text) or len(TAG.sub("", text)) <= width:
        return text
    breaks = []
    for space in re.finditer(" ", text):
        first, second = text[: space.start()], text[space.end() :]
        longer = max(len(TAG.sub("", first)), len(TAG.sub("", second)))
        breaks.append((longer, f"{first}\n{second}"))
    longer, broken = min(breaks)
    if longer > width:
        raise ValueError(f"two lines do not hold {text!r}")
    return broken


def retime(cues: list[Cue], rate: Fraction, offset: Fraction, style: dict[str, int]) -> None:
    ends = [rate * cue.end + offset for cue in cues]
    for cue in cues:
        cue.start = round(rate * cue.start + offset)
    for n, (cue, end) in enumerate(zip(cues, ends, strict=True)):
        reading = ceil(Fraction(cue.length * 1000, style["max_chars_per_second"]))
        earliest = cue.start + max(style["min_duration_ms"], reading)
        latest = cue.start + style["max_duration_ms"]
        if n + 1 < len(cues):
            latest = min(latest, cues[n + 1].start - style["min_gap_ms"])
        cue.end = min(max(floor(end), earliest), latest)


def main() -> None:
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    style = json.loads((data / "style.json").read_text(encoding="utf-8"))
    anchors = json.loads((data / "anchors.json").read_text(encoding="utf-8"))
    cues = parse(data / "episode.srt")
    starts = {cue.number: cue.start for cue in cues}
    (old_a, new_a), (old_b, new_b) = ((starts[a["cue"]], to_ms(a["start"])) for a in anchors)
    rate = Fraction(new_b - new_a, old_b - old_a)
    offset = new_a - rate * old_a
    kept, dropped = select(cues)
    retime(kept, rate, offset, style)
    blocks = [
        f"{n}\n{to_clock(cue.start)} --> {to_clock(cue.end)}\n"
        f"{wrap(cue.text, style['max_chars_per_line'])}\n"
        for n, cue in enumerate(kept, 1)
    ]
    (out / "episode.srt").write_bytes("\n".join(blocks).encode("utf-8"))
    report = {
        "cues": len(kept),
        "dropped": dropped,
        "rate": round(float(rate), 8),
        "offset_ms": round(float(offset), 3),
    }
    (out / "report.json").write_text(json.dumps(report) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
