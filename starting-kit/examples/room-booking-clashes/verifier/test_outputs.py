"""Checks the library in /root/roombook and /root/out/replay.json against a plain model.

The library is the agent's, so it runs in a process of its own that has no rights, and only what it
answers is believed.
"""

import json
import random
import shutil
import subprocess
import tempfile
import unittest
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

ROOT = Path("/root")
JOURNAL = Path(__file__).parent / "journal.jsonl"
NOBODY = 65534
SECONDS = 30
MAX_BYTES = 4_000_000

DRIVER = """
import json, sys
sys.path.insert(0, sys.argv[1])
import roombook

def plain(answer):
    if isinstance(answer, roombook.Booking):
        return [answer.id, answer.room, answer.start, answer.end]
    return [plain(one) for one in answer] if isinstance(answer, list) else answer

store = roombook.Store()
answers = []
for name, arguments in json.load(sys.stdin):
    try:
        answers.append(plain(getattr(store, name)(**arguments)))
    except roombook.Clash as clash:
        answers.append({"raised": "Clash", "other": clash.other})
    except Exception as error:
        answers.append({"raised": type(error).__name__})
print(json.dumps(answers))
"""

Call = tuple[str, dict[str, str]]


class Model:
    """The same store in its plainest form: every booking is compared with every other."""

    def __init__(self) -> None:
        self.bookings: dict[str, list[str]] = {}

    def answer(self, name: str, arguments: dict[str, str]) -> Any:
        if name == "agenda":
            return self.agenda(arguments["room"])
        id = arguments["id"]
        if name == "book" and id in self.bookings:
            return {"raised": "ValueError"}
        if name != "book" and id not in self.bookings:
            return {"raised": "KeyError"}
        if name == "cancel":
            del self.bookings[id]
            return None
        room = arguments["room"] if name == "book" else self.bookings[id][1]
        return self.put([id, room, arguments["start"], arguments["end"]])

    def put(self, booking: list[str]) -> Any:
        try:
            first, last = when(booking)
        except ValueError:
            return {"raised": "ValueError"}
        if last <= first:
            return {"raised": "ValueError"}
        for other in self.agenda(booking[1]):
            start, end = when(other)
            if other[0] != booking[0] and start < last and first < end:
                return {"raised": "Clash", "other": other[0]}
        self.bookings[booking[0]] = booking
        return booking

    def agenda(self, room: str) -> list[list[str]]:
        return sorted((one for one in self.bookings.values() if one[1] == room), key=when)

    def replay(self, lines: list[str]) -> dict[str, Any]:
        refused = []
        for number, line in enumerate(lines, 1):
            request = json.loads(line)
            answer = self.answer(request.pop("op"), request)
            if isinstance(answer, dict):
                other = answer.get("other")
                refused.append({"line": number, "id": request["id"], "clashes_with": other})
        rooms = sorted({booking[1] for booking in self.bookings.values()})
        agenda = {room: [booking[0] for booking in self.agenda(room)] for room in rooms}
        return {"refused": refused, "agenda": agenda}


def when(booking: list[str]) -> tuple[datetime, datetime]:
    return datetime.fromisoformat(booking[2]), datetime.fromisoformat(booking[3])


def times(rng: random.Random) -> dict[str, str]:
    """A start and an end on two days, each with an offset of its own."""
    start = datetime(2025, 10, 25, tzinfo=UTC) + timedelta(minutes=15 * rng.randrange(192))
    end = start + timedelta(minutes=15 * rng.randrange(1, 9))
    offsets = [timezone(timedelta(minutes=rng.choice((-240, 0, 60, 120, 330)))) for _ in range(2)]
    found = zip((start, end), offsets, strict=True)
    texts = [time.astimezone(offset).isoformat(timespec="minutes") for time, offset in found]
    return dict(zip(("start", "end"), texts, strict=True))


def calls(seed: int, kinds: list[str], count: int = 400) -> list[Call]:
    """Requests of these kinds about few rooms, each followed by a look at an agenda."""
    rng = random.Random(seed)
    made: list[Call] = []
    for number in range(count):
        kind, room = rng.choice(kinds), rng.choice(["fir", "yew"])
        id = {"id": f"n{number}" if kind == "book" else f"n{rng.randrange(number + 1)}"}
        more = {"book": {"room": room, **times(rng)}, "move": times(rng), "cancel": {}}
        made += [(kind, id | more[kind]), ("agenda", {"room": room})]
    return made


class Library(unittest.TestCase):
    def setUp(self) -> None:
        """A copy of the library that the user nobody may read, which /root forbids."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)
        shutil.copytree(ROOT / "roombook", self.place / "roombook", symlinks=True)
        subprocess.run(["chmod", "-R", "a+rX", self.place], check=True)

    def run_python(self, arguments: list[str], typed: str = "") -> str:
        with tempfile.TemporaryFile() as said:
            done = subprocess.run(
                ["python3", *arguments],
                input=typed.encode(),
                stdout=said,
                cwd=self.place,
                env={"PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                timeout=SECONDS,
                check=False,
            )
            self.assertEqual(done.returncode, 0, f"python3 {arguments[0]} failed")
            said.seek(0)
            return said.read(MAX_BYTES).decode("utf-8")

    def assert_answers(self, made: list[Call]) -> None:
        said = self.run_python(["-I", "-c", DRIVER, str(self.place)], json.dumps(made))
        answers = json.loads(said)
        self.assertEqual(len(answers), len(made))
        model = Model()
        for number, (call, found) in enumerate(zip(made, answers, strict=True)):
            wanted = model.answer(*call)
            self.assertEqual(found, wanted, f"call {number}: {call}")

    def test_bookings_from_several_time_zones(self) -> None:
        self.assert_answers(calls(1, ["book", "book", "cancel"]))

    def test_moves(self) -> None:
        for seed in range(2, 6):
            self.assert_answers(calls(seed, ["book", "move", "move", "cancel"]))

    def test_a_refused_move_changes_nothing(self) -> None:
        a = {"start": "2025-05-14T09:00+02:00", "end": "2025-05-14T10:00+02:00"}
        b = {"start": "2025-05-14T09:00+00:00", "end": "2025-05-14T10:00+00:00"}
        empty = {"start": b["end"], "end": b["start"]}
        self.assert_answers(
            [
                ("book", {"id": "a", "room": "oak", **a}),
                ("book", {"id": "b", "room": "oak", **b}),
                ("move", {"id": "a", **b}),
                ("agenda", {"room": "oak"}),
                ("move", {"id": "b", **empty}),
                ("book", {"id": "c", "room": "oak", **a}),
                ("move", {"id": "c", **a}),
                ("cancel", {"id": "a"}),
                ("agenda", {"room": "oak"}),
            ]
        )

    def test_what_callers_rely_on(self) -> None:
        first = {"start": "2025-05-14T09:00+02:00", "end": "2025-05-14T10:00+02:00"}
        after = {"start": "2025-05-14T08:00+00:00", "end": "2025-05-14T08:30+00:00"}
        self.assert_answers(
            [
                ("book", {"id": "a", "room": "oak", **first}),
                ("book", {"id": "b", "room": "oak", **after}),
                ("book", {"id": "a", "room": "elm", **first}),
                ("book", {"id": "c", "room": "elm", "start": "noon", "end": "night"}),
                ("book", {"id": "d", "room": "elm", "start": first["end"], "end": first["end"]}),
                ("cancel", {"id": "unknown"}),
                ("move", {"id": "unknown", **first}),
                ("agenda", {"room": "unknown"}),
                ("agenda", {"room": "oak"}),
            ]
        )

    def test_the_command_line_with_another_journal(self) -> None:
        made = calls(7, ["book", "book", "move", "cancel"])
        lines = [json.dumps({"op": name, **more}) for name, more in made if name != "agenda"]
        (self.place / "other.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (self.place / "other.jsonl").chmod(0o644)
        found = json.loads(self.run_python(["-m", "roombook", "other.jsonl"]))
        self.assertEqual(found, Model().replay(lines))


class Deliverables(unittest.TestCase):
    def test_the_replay_of_the_journal(self) -> None:
        path = ROOT / "out" / "replay.json"
        self.assertTrue(path.is_file(), f"{path} was not written")
        with path.open("rb") as file:
            found = json.loads(file.read(MAX_BYTES))
        lines = JOURNAL.read_text(encoding="utf-8").splitlines()
        wanted = Model().replay(lines)
        self.assertEqual(found["refused"], wanted["refused"])
        self.assertEqual(found["agenda"], wanted["agenda"])

    def test_the_journal_is_as_it_was(self) -> None:
        now = (ROOT / "data" / "journal.jsonl").read_bytes()
        self.assertEqual(now, JOURNAL.read_bytes(), "the journal was changed")


if __name__ == "__main__":
    unittest.main()
