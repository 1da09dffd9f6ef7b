"""Kinds of near copies: seeded functions from a package to a package, and chains of them.

Every mutant is still the original's task, and a sound package that can be solved: what changes in
the prompt's names changes in oracle, verifier and seed data as well. `half the prompt replaced` is
the exception, whose prompt says half of it only.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from bench.nearcopies import coding, originals, wording
from bench.nearcopies.originals import Package

Mutation = Callable[[Package, random.Random], Package]

_HEAD = re.compile(r"(?ms)\A(---\n.*?\n---\n.*?^## prompt\n)(.*)\Z")
_GENERATORS = originals.KIT.parent / "generators"

NEW_WORDS = [
    *("anvil", "birch", "cobble", "dune", "easel", "flint", "gable", "hazel", "igloo", "jasper"),
    *("kelp", "lagoon", "mortar", "nectar", "onyx", "plume", "quill", "rapids", "spruce", "tundra"),
    *("urchin", "vellum", "walnut", "xenon", "yonder", "zinc", "velvet", "bobbin", "orchard"),
]
NEW_NAMES = [
    *("Anders", "Berta", "Cyril", "Dunya", "Emil", "Freya", "Gustav", "Hedda"),
    *("Ivo", "Jette", "Klaus", "Lotte", "Mats", "Nora", "Otto", "Petra"),
]
_ACTORS = {
    "charity": "parish",
    "bakery": "canteen",
    "library": "archive",
    "bookshop": "toy shop",
    "credit union": "savings bank",
    "desktop client": "mail program",
    "buoy": "balloon",
    "pump": "lift",
    "podcast": "radio",
    "newsletter": "bulletin",
    "web server": "proxy",
    "Sales": "Marketing",
    "Head office": "The board",
    "Purchasing": "The warehouse",
    "biologists": "geographers",
    "food web": "trade network",
    "linguist": "historian",
    "harbour": "bazaar",
    "An editor": "A publisher",
    "plant historian": "archive server",
    "deploy script": "release script",
    "recorder": "camera",
    "users": "customers",
    "maintenance": "renovation",
    "control network": "laboratory",
    "app": "portal",
}
_NUMBERS = {
    "access-log-latency": {"500": "400"},
    "visitor-sessions": {"thirty": "forty", "30": "40"},
    "daemon-error-bursts": {"sixty": "ninety", "60": "90"},
    "next-cron-firings": {"10:07": "13:22", "607": "802", "608": "803"},
    "backup-window-collisions": {"20:00": "21:00"},
    "event-stream-compaction": {"five": "seven", "5": "7"},
    "determinants-modulo-prime": {"101": "103", "100": "102"},
    "linked-fraud-accounts": {"three": "four", "3": "4", "2": "3"},
    "overdraft-days": {"four": "six", "4": "6"},
    "mixed-pressure-sensors": {"150": "120"},
    "collocations-of-a-corpus": {"ten": "eight", "10": "8"},
    "block-level-savings": {"sixteen": "twelve", "16": "12"},
    "readability-ranking": {"three": "four", "3": "4", "2": "3"},
}
"""Numbers that prompt, oracle and verifier share and that may be others, by task."""

_LICENCE = """\
Copyright 2026 The Task Authors.
Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
in compliance with the License. You may obtain a copy of the License at
    http://www.apache.org/licenses/LICENSE-2.0
Unless required by applicable law or agreed to in writing, software distributed under the License
is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or
implied. See the License for the specific language governing permissions and limitations."""

_UNUSED = '''

def _load_bytes(path):
    """Reads a file whole; kept for later checks."""
    with open(path, "rb") as stream:
        return stream.read()


def _main():
    print("nothing to do")
'''


def name_of(package: Package) -> str:
    """The name that stands in `verifier.md`."""
    found = re.search(r"(?m)^  name: (\S+)", package["verifier/verifier.md"])
    return found[1] if found else ""


def prompt_of(package: Package) -> str:
    return _halves(package)[1].strip() + "\n"


def with_prompt(package: Package, prompt: str) -> Package:
    return {**package, "task.md": f"{_halves(package)[0]}\n{prompt.strip()}\n"}


def _halves(package: Package) -> tuple[str, str]:
    found = _HEAD.match(package["task.md"])
    assert found, "a task.md without a prompt"
    return found[1], found[2]


def of_prompt(change: Callable[[str, random.Random], str]) -> Mutation:
    """The mutation that changes a prompt alone."""
    return lambda package, chance: with_prompt(package, change(prompt_of(package), chance))


def of_code(python: coding.Change, shell: coding.Change) -> Mutation:
    """The mutation that changes the code of oracle and verifier alone."""

    def mutate(package: Package, chance: random.Random) -> Package:
        changed = dict(package)
        coding.apply(changed, python, shell, chance)
        return changed

    return mutate


def chain(*mutations: Mutation) -> Mutation:
    """Several mutations, one after the other."""

    def mutate(package: Package, chance: random.Random) -> Package:
        for mutation in mutations:
            package = mutation(package, chance)
        return package

    return mutate


def exact(package: Package, _: random.Random) -> Package:
    return dict(package)


def files_renamed(package: Package, chance: random.Random) -> Package:
    """Input, output and helper files under other names, in every text that speaks of them."""
    oracle = "".join(text for path, text in package.items() if path.startswith("oracle/"))
    checks = package["verifier/test_outputs.py"]
    prompt = prompt_of(package)
    known = {PurePosixPath(p).name for p in package if p.startswith("environment/data/")}
    known |= {PurePosixPath(p).name for p in re.findall(r"/root/([\w/.-]+\.\w+)", prompt)}
    shared = [n for n in known if n in prompt and n in oracle and n in checks and "." in n]
    shared = [n for n in shared if f'"{n.partition(".")[0]}"' not in checks]
    helpers = [PurePosixPath(p).name for p in package if re.match(r"oracle/.+\.py$", p)]
    words = chance.sample(NEW_WORDS, len(NEW_WORDS))
    new = {}
    for name in sorted({*shared, *helpers}):
        stem, _, ending = name.partition(".")
        new[name] = f"{words.pop()}_{stem[:1]}{chance.randint(2, 99)}.{ending}"
    return _replaced(package, new, r"(?<![\w.-])", r"(?![\w-])", prompt=True, paths=True)


def _replaced(
    package: Package, new: dict[str, str], before: str, after: str, *, prompt: bool, paths: bool
) -> Package:
    """Words replaced at once in all texts (the prompt's part of task.md), and in paths."""
    if not new:
        return dict(package)
    words = sorted(map(re.escape, new), key=len, reverse=True)
    pattern = re.compile(f"{before}(?:{'|'.join(words)}){after}")

    def other(text: str) -> str:
        return pattern.sub(lambda found: new[found[0]], text)

    changed = {
        other(path) if paths else path: text if path == "task.md" else other(text)
        for path, text in package.items()
    }
    return with_prompt(changed, other(prompt_of(package))) if prompt else changed


def renamed(package: Package, chance: random.Random) -> Package:
    """Other identifiers, files and package names."""
    name = name_of(package)
    package = files_renamed(package, chance)
    package = of_code(coding.renamed, coding.shell_renamed)(package, chance)
    other = "-".join(chance.sample(NEW_WORDS, 3))
    description = package["verifier/verifier.md"].replace(f"name: {name}", f"name: {other}")
    return {**package, "verifier/verifier.md": description}


def numbers_and_names(package: Package, chance: random.Random) -> Package:
    """Other seed data of the same form, other people and places, other limits where any may be."""
    name = name_of(package)
    package = _redrawn(package, name, chance.randint(1, 3))
    old = [*originals.WORDS, *originals.NAMES]
    fresh = [*chance.sample(NEW_WORDS, len(NEW_WORDS)), *chance.sample(NEW_NAMES, len(NEW_NAMES))]
    new = dict(zip(old, fresh, strict=True))
    package = _replaced(package, new, r"\b", r"(?!\w)", prompt=True, paths=True)
    code = {p: t for p, t in package.items() if p.startswith(("oracle/", "verifier/test_out"))}
    code["task.md"] = package["task.md"]
    code["verifier/verifier.md"] = package["verifier/verifier.md"]
    code = _replaced(code, _NUMBERS.get(name, {}), r"\b", r"\b", prompt=True, paths=False)
    package = {**package, **code}
    prompt = prompt_of(package)
    for actor, other in _ACTORS.items():
        prompt = re.sub(rf"\b{actor}\b(?![^`\n]*`[^`\n]*$)", other, prompt)
    return with_prompt(package, prompt)


def _redrawn(package: Package, name: str, seed: int) -> Package:
    """The package with the data that another seed draws, where it still has the first seed's."""
    old, new = _draws(name, 0), _draws(name, seed)
    changed = dict(package)
    for path, text in package.items():
        file = PurePosixPath(path).name
        if not path.startswith("oracle/") and text == old.get(file):
            changed[path] = new[file]
    return changed


@cache
def _draws(name: str, seed: int) -> Package:
    """The seed data of an original by file name; seed 0 gives its own."""
    spec = next((one for one in originals.specs() if one.name == name), None)
    if spec:
        built = originals.build(spec, seed)
        return {PurePosixPath(p).name: t for p, t in built.items() if "/data/" in p}
    script = _GENERATORS / f"{name.replace('-', '_')}.py"
    if not script.exists():
        return {}
    code = f"import sys; sys.path.insert(0, {str(script.parent)!r}); import {script.stem} as it; "
    code += f"it.SEED += {seed}; it.main()"
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-B", "-c", code, out]
        subprocess.run(command, check=True, capture_output=True)
        files = [path for path in Path(out).rglob("*") if path.is_file()]
        return {path.name: path.read_text(encoding="utf-8") for path in files}


def half_replaced(package: Package, chance: random.Random) -> Package:
    specs = [one for one in originals.specs() if one.name != name_of(package)]
    texts = [
        t for one in chance.sample(specs, 4) for kind, _, t in one.sections if kind == "prompt"
    ]
    return with_prompt(package, wording.half_replaced(prompt_of(package), chance, texts))


def boilerplate_added(package: Package, _: random.Random) -> Package:
    """Licence headers in every script, unused helpers, a longer Dockerfile and description."""
    header = "".join(f"# {line}".rstrip() + "\n" for line in _LICENCE.splitlines())
    changed = dict(package)
    for path, text in package.items():
        if path.endswith((".py", ".sh")) and not path.startswith("environment/"):
            first, _, rest = text.partition("\n")
            script = first.startswith("#!")
            changed[path] = f"{first}\n{header}{rest}" if script else f"{header}\n{text}"
    checks = changed["verifier/test_outputs.py"]
    if "__main__" not in checks:
        changed["verifier/test_outputs.py"] = checks + _UNUSED
    changed["environment/Dockerfile"] = header + package["environment/Dockerfile"]
    changed["verifier/verifier.md"] += "\n" + _LICENCE + "\n"
    return changed


def reworded_by_hand(package: Package, chance: random.Random) -> Package:
    """A person's own telling of the task; the phrase grammar's where there is none."""
    prompt = wording.by_hand().get(name_of(package))
    if prompt is None:
        return of_prompt(wording.rephrased)(package, chance)
    return with_prompt(package, prompt)


reformatted = chain(of_prompt(wording.reformatted), of_code(coding.spaced, coding.shell_spaced))
reordered = chain(
    of_prompt(wording.reordered), of_code(coding.functions_shuffled, coding.unchanged)
)
code_reformatted = of_code(coding.unparsed, coding.shell_spaced)
commented = of_code(coding.commented, coding.shell_commented)
uncommented = of_code(coding.uncommented, coding.shell_commented)
lookalikes = of_prompt(wording.lookalikes)
preamble = of_prompt(wording.with_preamble)
plain = of_prompt(wording.plain)
restructured = of_prompt(wording.restructured)
rephrased = of_prompt(wording.rephrased)

SINGLE: dict[str, Mutation] = {
    "exact": exact,
    "reformatted": reformatted,
    "Unicode look-alikes": lookalikes,
    "identifiers and paths renamed": renamed,
    "files renamed": files_renamed,
    "numbers and names changed": numbers_and_names,
    "steps reordered": reordered,
    "preamble added": preamble,
    "half the prompt replaced": half_replaced,
    "Markdown to plain text": plain,
    "prose to list, list to prose": restructured,
    "boilerplate added": boilerplate_added,
    "comments added": commented,
    "comments stripped or added": uncommented,
    "code reformatted": code_reformatted,
    "reworded by phrases": rephrased,
    "reworded by hand": reworded_by_hand,
}

CHAINS: dict[str, Mutation] = {
    "numbers and names, renamed": chain(numbers_and_names, renamed),
    "reordered, look-alikes": chain(reordered, lookalikes),
    "half replaced, code reformatted": chain(half_replaced, code_reformatted),
    "reworded by hand, renamed": chain(reworded_by_hand, renamed),
    "reworded by hand, comments, preamble": chain(reworded_by_hand, commented, preamble),
    "reworded by hand, numbers and names, renamed": chain(
        reworded_by_hand, numbers_and_names, renamed
    ),
    "renamed, boilerplate, prose to list": chain(renamed, boilerplate_added, restructured),
}

KINDS: dict[str, Mutation] = {**SINGLE, **CHAINS}


def rewordable(name: str) -> bool:
    """Whether a person reworded this original; kinds `by hand` are measured on these alone."""
    return name in wording.by_hand()


def mutants(kind: str, name: str, original: Package, seeds: int) -> Iterator[Package]:
    """An original's mutants of one kind, one a seed; of kinds without chance, one.

    None where there is nothing to change, as in a task without data.
    """
    fixed = kind in {"exact", "reworded by hand", "code reformatted"}
    if "by hand" in kind and not rewordable(name):
        return
    for seed in range(1 if fixed else seeds):
        mutant = KINDS[kind](original, random.Random(f"{kind} {name} {seed}"))
        if kind == "exact" or mutant != original:
            yield mutant
