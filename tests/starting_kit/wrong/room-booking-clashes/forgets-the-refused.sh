# A move that worked is in its place again, so somebody does not think of one that was refused.
cd /root && mkdir -p out
python3 - <<'PY'
from pathlib import Path
path = Path("roombook/times.py")
path.write_text(path.read_text().replace(".replace(tzinfo=UTC)", ""))
path = Path("roombook/store.py")
text = path.read_text()
text = text.replace(
    "        self._place(new)\n        agenda.insert(index, new)\n",
    "        agenda.insert(self._place(new), new)\n",
)
path.write_text(text)
PY
python3 -m roombook data/journal.jsonl > out/replay.json || true
