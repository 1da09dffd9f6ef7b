"""Writes the seed data of `subtitle-conform`: drifted subtitles, two anchors and a style sheet.

    python starting-kit/generators/subtitle_conform.py OUT_DIR

The bytes are the same on every machine and at every call: times are whole milliseconds.
"""

from __future__ import annotations

import json
import random
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

SEED = 31_337
CUES = 84

STYLE = {
    "max_chars_per_line": 42,
    "max_lines": 2,
    "max_chars_per_second": 17,
    "min_duration_ms": 1000,
    "max_duration_ms": 7000,
    "min_gap_ms": 80,
}

# The copy that was subtitled ran slower than the master and began with other titles.
RATE_PPM = 959_040
OFFSET_MS = 4_310

NAMES = ("MARTA", "OLD JONAS", "ZOË", "THE HARBOUR MASTER")
SOUNDS = ("[door slams]", "[gulls cry]", "[engine coughs, then dies]", "[fog horn]", "[sighs]")
WHO = (
    "The keeper",
    "My sister Zoë",
    "Nobody in the café",
    "That old fishing boat",
    "The radio operator",
    "Half of the crew",
    "Your naïve little brother",
)
DOES = (
    "never came back from",
    "has forgotten",
    "still talks about",
    "was asked to look after",
    "signed for",
    "would rather not mention",
)
WHAT = (
    "the lamp",
    "the 9:40 ferry",
    "a crate of oranges",
    "the storm of ’87",
    "the letter you left on the stairs",
    "what happened at the north pier",
)
TAILS = (".", ".", "?", ", as far as I know.", ", and you know it.", " – or so they say.")
SHORT = ("No.", "Come in.", "Who told you?", "Not again.", "I heard it, too.", "À demain!", "Wait!")


@dataclass
class Cue:
    start: int
    end: int
    text: str


def sentence(rng: random.Random) -> str:
    if rng.random() < 0.25:
        return rng.choice(SHORT)
    return f"{rng.choice(WHO)} {rng.choice(DOES)} {rng.choice(WHAT)}{rng.choice(TAILS)}"


def spoken(rng: random.Random) -> str:
    """What is to be read in the end; it can stand on two lines."""
    while True:
        text = sentence(rng)
        if rng.random() < 0.2:
            text = f"{text} {rng.choice(SHORT)}"
        if len(textwrap.wrap(text, 42)) <= 2:
            return text


def as_found(text: str, n: int, rng: random.Random) -> str:
    """The text as the subtitler left it: with names, sounds, tags and breaks of any kind."""
    kind = n % 12
    if kind == 3:
        text = f"{rng.choice(SOUNDS)} {text}"
    elif kind == 5:
        text = f"{text} {rng.choice(SOUNDS)}"
    broken = "\n".join(textwrap.wrap(text, 30 + n % 37)) if n % 3 else text
    if kind in (1, 8):
        return f"{rng.choice(NAMES)}: {broken}"
    if kind == 7:
        return f"<i>{broken}</i>"
    if kind == 10:
        return f"{broken}\n[the radio\nfalls silent]"
    return broken


def dialogue(rng: random.Random) -> str:
    return "\n".join(f"- {rng.choice(SHORT)}" for _ in range(2))


def cues(rng: random.Random) -> list[Cue]:
    found: list[Cue] = []
    start = 11_840
    for n in range(CUES):
        both = n % 14 == 9
        text = dialogue(rng) if both else spoken(rng)
        characters = len(text)  # a break counts like the space that it replaces
        shortest = max(STYLE["min_duration_ms"], characters * 1000 // 17 + 1)
        needed = (shortest + STYLE["min_gap_ms"] + 20) * 1_000_000 // RATE_PPM
        pause = rng.choice([0, 0, 140, 600, 2_400, 9_000])
        length = shortest * rng.randrange(55, 160) // 100
        if pause == 9_000 and rng.random() < 0.5:
            length = 8_300 + rng.randrange(900)
        found.append(Cue(start, start + length, text if both else as_found(text, n, rng)))
        if n % 9 == 4:
            sound = rng.choice(SOUNDS)
            noise = f"<i>{sound}</i>" if n % 2 else sound
            found.append(Cue(start + needed // 2, start + needed, noise))
        if n % 31 == 17:
            found.append(Cue(start, start + length, found[-1].text))
        start += needed + pause
    return found


def srt(found: list[Cue], rng: random.Random) -> tuple[str, dict[int, Cue]]:
    """The file, and its cues by the number that they have there."""
    order = list(found)
    for n in range(10, len(order) - 1, 23):
        order[n], order[n + 1] = order[n + 1], order[n]
    numbers: dict[int, Cue] = {}
    blocks, number = [], 0
    for cue in order:
        number += 2 if rng.random() < 0.05 else 1
        numbers[number] = cue
        point = "." if rng.random() < 0.1 else ","
        pad = " " if rng.random() < 0.1 else ""
        times = f"{clock(cue.start, point)} --> {clock(cue.end, point)}"
        blocks.append(
            f"{number}\n{times}{pad}\n{cue.text}{pad}\n" + "\n" * rng.choice([1, 1, 1, 2])
        )
    return "\ufeff" + "".join(blocks).replace("\n", "\r\n"), numbers


def clock(ms: int, point: str) -> str:
    seconds = ms // 1000
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours:02}:{minutes:02}:{seconds % 60:02}{point}{ms % 1000:03}"


def files() -> dict[str, str]:
    rng = random.Random(SEED)
    text, numbers = srt(cues(rng), rng)
    read = [number for number, cue in numbers.items() if not cue.text.strip("<i>/").startswith("[")]
    anchors = [
        {
            "cue": number,
            "start": clock(numbers[number].start * RATE_PPM // 1_000_000 + OFFSET_MS, ","),
        }
        for number in (read[5], read[-7])
    ]
    return {
        "episode.srt": text,
        "anchors.json": json.dumps(anchors, indent=2) + "\n",
        "style.json": json.dumps(STYLE, indent=2) + "\n",
    }


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (out / name).write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
