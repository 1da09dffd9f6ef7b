"""Small original tasks for the measurement of near copies: 16 families of three.

`tasks/*.txt` holds what makes a task its own: prompt, seed data, oracle, checks. This module makes
packages of them, as texts by path. Seed data is drawn from line templates with a seed, so that a
task can be had with other data, too.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

Package = dict[str, str]
FOLDER = Path(__file__).parent / "tasks"
KIT = Path(__file__).parents[2] / "starting-kit" / "examples"

WORDS = [
    *("amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty"),
    *("knoll", "ledge", "marsh", "north", "orbit", "pearl", "quarry", "ridge", "shoal", "thorn"),
    *("umber", "vale", "willow", "yarrow", "zephyr", "linen", "copper", "lantern", "meadow"),
]
NAMES = [
    *("Ada", "Bram", "Carla", "Dov", "Elsa", "Finn", "Greta", "Hugo"),
    *("Iris", "Jonas", "Kaja", "Lars", "Mona", "Nils", "Olga", "Pia"),
]

_TASK = """\
---
version: "1.0"
metadata:
  author_hub: bench
  category: {domain}
  difficulty: medium
  tags: [{family}, bench]
  license: Apache-2.0
  origin: generated
agent:
  timeout_sec: 900
verifier:
  timeout_sec: 180
environment:
  build_timeout_sec: 600
  cpus: 1
  memory_mb: 512
  storage_mb: 1024
  allow_internet: false
---

## prompt

{prompt}"""

_DOCKERFILE = """\
FROM python:3.12.7-slim-bookworm
RUN pip install --no-cache-dir pytest==8.3.4
COPY data/ /root/data/
WORKDIR /root
"""

_TEST = """\
#!/bin/sh
mkdir -p /logs/verifier
if timeout -k 5 150 python3 -I -m pytest -q /verifier/test_outputs.py; then
  reward=1
else
  reward=0
fi
echo "$reward" > /logs/verifier/reward.txt
"""

_PRELUDE = '''\
"""Checks what was left in /root."""

import csv
import json
import re
from pathlib import Path

ROOT = Path("/root")
DATA = ROOT / "data"


def rows(name):
    return list(csv.DictReader((DATA / name).open()))


def answer(name="answer.json"):
    return json.loads((ROOT / name).read_text())


'''

_VERIFIER = """\
---
document_version: "0.3"
verifier:
  name: {name}
  default_strategy: checks
  strategies:
    checks:
      type: script
      command: "sh /verifier/test.sh"
  rubric:
    dimensions:
      result: {{weight: 1.0}}
  outputs:
    reward: /logs/verifier/reward.txt
---

Passing means that the result agrees with one computed in another way from the same data.
"""

_RUBRIC = "# Quality\n\n- **Right**: the result is computed from the data, not typed in.\n"
_SHEBANG = "#!/bin/bash\nset -euo pipefail\ncd /root\n"


class Spec(NamedTuple):
    """What one task consists of: `sections` are (kind, argument, text) in the file's order."""

    family: str
    name: str
    domain: str
    sections: tuple[tuple[str, str, str], ...]


@cache
def specs() -> tuple[Spec, ...]:
    """Every task of `tasks/`, in order of families."""
    return tuple(spec for path in sorted(FOLDER.glob("*.txt")) for spec in _read(path))


def _read(path: Path) -> Iterator[Spec]:
    pieces = re.split(r"^=== (\w+) ?(.*)\n", path.read_text(encoding="utf-8"), flags=re.M)[1:]
    sections = list(zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True))
    starts = [number for number, one in enumerate(sections) if one[0] == "task"]
    for start, end in zip(starts, [*starts[1:], len(sections)], strict=True):
        name, domain = sections[start][1].split()
        yield Spec(path.stem, name, domain, tuple(sections[start + 1 : end]))


def build(spec: Spec, seed: int = 0) -> Package:
    """The package of a task, with the data that this seed draws."""
    package = {
        "environment/Dockerfile": _DOCKERFILE,
        "verifier/test.sh": _TEST,
        "verifier/verifier.md": _VERIFIER.format(name=spec.name),
        "verifier/rubrics/quality.md": _RUBRIC,
    }
    for kind, argument, text in spec.sections:
        if kind == "prompt":
            package["task.md"] = _TASK.format(domain=spec.domain, family=spec.family, prompt=text)
        elif kind == "data":
            name, count = argument.split()
            chance = random.Random(f"{spec.name} {name} {seed}")
            package[f"environment/data/{name}"] = draw(text, int(count), chance)
        elif kind == "file":
            package[f"environment/{argument}"] = text
        elif kind == "oracle":
            body = text if argument == "sh" else f"python3 - <<'PY'\n{text}PY\n"
            package["oracle/solve.sh"] = _SHEBANG + body
        else:
            package["verifier/test_outputs.py"] = _PRELUDE + text
    if "environment/build.py" in package:
        package["environment/Dockerfile"] += "COPY build.py /root/\nRUN python3 build.py\n"
    return package


def draw(template: str, count: int, chance: random.Random) -> str:
    """`count` lines, each of one of the template's, below its `!` lines."""
    lines = template.splitlines()
    patterns = [line for line in lines if not line.startswith("!")]
    made = [line[1:] for line in lines if line.startswith("!")]
    for number in range(1, count + 1):
        pattern = chance.choice(patterns)
        made.append(re.sub(r"\{(\w+)(?::([^}]*))?\}", _value(number, chance), pattern))
    return "\n".join(made) + "\n"


def _value(number: int, chance: random.Random) -> Callable[[re.Match[str]], str]:
    """Fills the fields of line `number`; braces that name no field stay as they are."""

    def value(found: re.Match[str]) -> str:
        kind, detail = found[1], found[2] or ""
        if kind == "int":
            low, high = re.findall(r"(?<!\d)-?\d+", detail)
            return str(chance.randint(int(low), int(high)))
        kinds = {
            "seq": lambda: str(number),
            "pick": lambda: chance.choice(detail.split("|")),
            "word": lambda: chance.choice(WORDS),
            "words": lambda: " ".join(chance.choices(WORDS, k=int(detail))),
            "name": lambda: chance.choice(NAMES),
            "date": lambda: f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
            "time": lambda: f"{chance.randint(0, 23):02}:{chance.randint(0, 59):02}",
            "ip": lambda: f"10.{chance.randint(0, 9)}.0.{chance.randint(1, 254)}",
            "hex": lambda: f"{chance.getrandbits(4 * int(detail)):0{detail}x}",
        }
        return kinds[kind]() if kind in kinds else found[0]

    return value


@cache
def originals() -> dict[str, Package]:
    """All synthetic tasks, by name."""
    return {spec.name: build(spec) for spec in specs()}


@cache
def kit() -> dict[str, Package]:
    """The starting kit's examples, by name."""
    return {root.name: read(root) for root in sorted(KIT.iterdir()) if root.is_dir()}


def read(root: Path) -> Package:
    """The texts of a package's folder."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in files
        if "__pycache__" not in path.parts
    }


def write(package: Package, root: Path) -> Path:
    """Puts a package's files below `root`."""
    for name, text in package.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root
