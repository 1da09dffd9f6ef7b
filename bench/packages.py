"""Collections of realistic packages for measurements; the bytes are the same on every machine."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from arena.packages import Domain

DATA_BYTES = {"records.csv": 120_000, "events.json": 60_000, "notes.txt": 12_000}
PICTURE_BYTES = 38_000

_TASK = """\
---
version: "1.0"
metadata:
  author_hub: author{author}
  category: {domain}
  difficulty: medium
  tags: [csv, statistics, {word}]
  license: Apache-2.0
  origin: original
agent:
  timeout_sec: 900
verifier:
  timeout_sec: 180
environment:
  build_timeout_sec: 600
  cpus: 1
  memory_mb: 2048
  allow_internet: false
artifacts: [/root]
---

## prompt

The folder /root/data holds the readings of station {word}: `records.csv`, with one row a reading,
and `events.json`, with what its keepers noted. `notes.txt` says how the two belong together.

{paragraphs}

Write your answer to /root/answer.json, as an object with one key for each of the columns.
"""

_DOCKERFILE = """\
# syntax=docker/dockerfile:1
FROM python:3.12.7-slim
RUN apt-get update && apt-get install -y --no-install-recommends \\
    jq \\
    sqlite3 \\
 && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir pytest==8.3.4 numpy==2.1.3 pandas==2.2.3
WORKDIR /root
COPY records.csv events.json data/
COPY notes.txt picture.png data/
RUN <<EOF
set -e
echo "{word}" > /etc/station
chmod 644 /etc/station
EOF
"""

_TEST = """\
#!/bin/bash
# {word}: every check must pass.
set -u
logs="${{BENCHFLOW_REWARD_TEXT:-/logs/verifier/reward.txt}}"
mkdir -p "$(dirname "$logs")"
cd "${{BENCHFLOW_VERIFIER_DIR:-/verifier}}" || exit 1
python3 -m pytest -q -rA test_outputs.py --ctrf /logs/verifier/ctrf.json
if [ $? -eq 0 ]; then
  echo 1 > "$logs"
else
  echo 0 > "$logs"
fi
"""

_DESCRIPTION = """\
---
document_version: "0.3"
verifier:
  name: {word}
  default_strategy: script
  strategies:
    script:
      type: script
      command: bash /verifier/test.sh
  rubric:
    dimensions:
      correctness: {{weight: 0.8}}
      care: {{weight: 0.2}}
  outputs:
    reward_text: /logs/verifier/reward.txt
---

Passing means that each column's figure is right within a part in a million.

{paragraphs}
"""

_CHECKS = """\
\"\"\"What the agent must have left, of {word}.\"\"\"

import json
import math
import subprocess
from pathlib import Path

import pytest

ANSWER = Path("/root/answer.json")


@pytest.fixture(scope="session")
def answer():
    return json.loads(ANSWER.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def expected():
    done = subprocess.run(["sqlite3", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout
    return json.loads(Path("/verifier/expected.json").read_text(encoding="utf-8"))

"""

_CHECK = """\

def test_{column}_is_right(answer, expected):
    \"\"\"The figure of {column}: {sentence}\"\"\"
    found = answer["{column}"]
    assert isinstance(found, (int, float)), f"{column} is {{found!r}}"
    assert math.isclose(found, expected["{column}"], rel_tol=1e-6)
    assert found != {number}
"""

_SOLVE = """\
#!/bin/bash
set -euo pipefail
cd /root
# {sentence}
for column in {columns}; do
  awk -F, -v name="$column" 'NR > 1 {{ sum += $3 * {number} }} END {{ print name, sum / NR }}' \\
    data/records.csv >> sums.txt
done
python3 - <<'PY'
import json
pairs = (line.split() for line in open("sums.txt"))
json.dump({{name: float(value) for name, value in pairs}}, open("answer.json", "w"))
PY
"""

_RUBRIC = "# Quality\n\n- **Correctness**: {paragraphs}\n- **Care**: {sentence}\n"


def write_collection(folder: Path, count: int) -> int:
    """Writes `count` packages below `folder`; returns their bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "submission.yaml").write_text("team_name: Bench\nlicense: Apache-2.0\n")
    total = 0
    for number in range(count):
        package = folder / f"station-{number:03}"
        for path, content in _files(number, package.name).items():
            target = package / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            total += len(content)
    return total


def _files(number: int, name: str) -> dict[str, bytes]:
    """The files of one package, which no other has alike."""
    chance = random.Random(number)
    columns = [f"{_word(chance)}_{index}" for index in range(12)]
    facts = {
        "word": name,
        "author": number % 7,
        "domain": list(Domain)[number % len(Domain)].value,
        "paragraphs": "\n\n".join(_sentences(chance, 12) for _ in range(4)),
        "sentence": _sentences(chance, 1),
        "columns": " ".join(columns),
        "number": chance.randrange(10_000, 99_999),
    }
    checks = [
        _CHECK.format(column=column, sentence=_sentences(chance, 1), number=chance.random())
        for column in columns
    ]
    expected = ", ".join(f'"{column}": {chance.random()}' for column in columns)
    texts = {
        "task.md": _TASK.format(**facts),
        "environment/Dockerfile": _DOCKERFILE.format(**facts),
        "verifier/test.sh": _TEST.format(**facts),
        "verifier/verifier.md": _DESCRIPTION.format(**facts),
        "verifier/test_outputs.py": _CHECKS.format(**facts) + "\n".join(checks),
        "verifier/expected.json": f"{{{expected}}}\n",
        "verifier/rubrics/quality.md": _RUBRIC.format(**facts),
        "oracle/solve.sh": _SOLVE.format(**facts),
    }
    for file, size in DATA_BYTES.items():
        texts[f"environment/{file}"] = _data(chance, file, size)
    picture = {"environment/picture.png": chance.randbytes(PICTURE_BYTES)}
    return {path: text.encode() for path, text in texts.items()} | picture


def _data(chance: random.Random, name: str, size: int) -> str:
    """Lines of one kind, drawn from a stock that is long enough to look like data."""
    lines: dict[str, Callable[[], str]] = {
        "csv": lambda: f"{chance.randrange(10**6)},{_word(chance)},{chance.random():.6f},ok\n",
        "json": lambda: f'{{"at": {chance.randrange(10**9)}, "what": "{_word(chance)}"}}\n',
        "txt": lambda: _sentences(chance, 1) + "\n",
    }
    stock = [lines[name.rpartition(".")[2]]() for _ in range(200)]
    return "".join(chance.choices(stock, k=size // len(stock[0])))


def _word(chance: random.Random) -> str:
    return "".join(chance.choices("aeioulnrstdmkvp", k=chance.randrange(4, 9)))


def _sentences(chance: random.Random, count: int) -> str:
    made = (" ".join(_word(chance) for _ in range(9)).capitalize() + "." for _ in range(count))
    return "\n".join(made)
