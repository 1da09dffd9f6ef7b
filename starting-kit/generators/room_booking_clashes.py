"""Writes the seed data of `room-booking-clashes`: a week's requests to book, move and cancel.

python starting-kit/generators/room_booking_clashes.py OUT_DIR
"""

from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

SEED = 1418
REQUESTS = 320
ROOMS = ("ash", "birch", "elm", "oak")
MONDAY = datetime(2025, 5, 12, tzinfo=UTC)
DAYS = 5
FIRST_HOUR, LAST_HOUR = 5, 17
"""Of a start, in UTC: from the morning in Bengaluru to the afternoon in New York."""

OFFSETS_MIN = (120, 120, 120, 60, 330, -240)
"""Minutes ahead of UTC where people are: most in Berlin, some in London, Bengaluru, New York."""


def times(rng: random.Random) -> dict[str, str]:
    start = MONDAY + timedelta(days=rng.randrange(DAYS))
    start += timedelta(minutes=15 * rng.randrange(4 * FIRST_HOUR, 4 * LAST_HOUR))
    end = start + timedelta(minutes=15 * rng.choice((1, 2, 2, 3, 4, 4, 6, 8)))
    offset = timezone(timedelta(minutes=rng.choice(OFFSETS_MIN)))
    texts = [time.astimezone(offset).isoformat(timespec="minutes") for time in (start, end)]
    return {"start": texts[0], "end": texts[1]}


def requests(rng: random.Random) -> list[dict[str, str]]:
    made: list[dict[str, str]] = []
    ids: list[str] = []
    for number in range(1, REQUESTS + 1):
        kind = rng.choice(("book", "book", "book", "move", "move", "cancel")) if ids else "book"
        if kind == "book":
            ids.append(f"b{number:03}")
            made.append({"op": kind, "id": ids[-1], "room": rng.choice(ROOMS), **times(rng)})
        elif kind == "move":
            made.append({"op": kind, "id": rng.choice(ids[-40:]), **times(rng)})
        else:
            made.append({"op": kind, "id": ids.pop(rng.randrange(len(ids)))})
    return made


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(request) + "\n" for request in requests(random.Random(SEED))]
    (out / "journal.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
