# The complaint is about the agenda, so somebody sorts it where it is shown; the search stays blind.
cd /root && mkdir -p out
python3 - <<'PY'
from pathlib import Path
path = Path("roombook/times.py")
path.write_text(path.read_text().replace(".replace(tzinfo=UTC)", ""))
path = Path("roombook/store.py")
text = path.read_text()
text = text.replace(
    "        self._place(new)\n",
    "        try:\n            self._place(new)\n        except Clash:\n"
    "            agenda.insert(index, old)\n            raise\n",
)
text = text.replace(
    "return list(self._rooms.get(room, []))",
    "return sorted(self._rooms.get(room, []), key=lambda booking: booking.first)",
)
path.write_text(text)
PY
python3 -m roombook data/journal.jsonl > out/replay.json
