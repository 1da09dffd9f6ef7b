"""A coverage-guided fuzz target: bytes become the files of a package, and the package is checked.

    pip install atheris
    python tests/fuzz/check_package.py -max_total_time=60 [CORPUS]

`atheris` is no dependency of the project, and pytest does not collect this file. Without a CORPUS
folder one is made of the sound package and of the rule book's examples. A crash leaves its input
in the current folder; `python tests/fuzz/check_package.py FILE` runs that one again.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports(include=["arena.packages"]):
    from arena.packages import check_package
    from arena.packages.findings import MAX_MESSAGE
    from arena.packages.reading import MAX_READ_BYTES
    from arena.packages.rules import RULES
    from arena.packages.rules.book import rule_book

from tests.collections import FILES, write_package

SEPARATOR = b"\0\1"
PATHS = [*FILES, "verifier/test_outputs.py", "verifier/more.sh", "environment/requirements.txt"]
CODES = {"TP000", *(rule.code for rule in RULES)}
MAX_SECONDS = 10


def check(data: bytes) -> None:
    """Each part of the input is one file: its first byte says which, the rest is its content."""
    changed = {}
    for part in data.split(SEPARATOR):
        if part:
            changed[PATHS[part[0] % len(PATHS)]] = part[1 : MAX_READ_BYTES + 2]
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        root = write_package(Path(folder) / "write-apple")
        for path, content in changed.items():
            (root / path).write_bytes(content)
        report = check_package(root)
    for finding in report.findings:
        assert finding.code in CODES, finding
        assert 0 < len(finding.message) <= MAX_MESSAGE, finding
        assert finding.hint, finding
        content = changed.get(finding.file, FILES.get(finding.file, "").encode())
        last = content.count(b"\n") + content.count(b"\r") + 1
        assert finding.line is None or 1 <= finding.line <= last, finding


def write_corpus(folder: Path) -> None:
    """The sound package whole, and each file and each example of the rule book by itself."""
    parts = [bytes([PATHS.index(path)]) + text.encode() for path, text in FILES.items()]
    for rule in rule_book():
        file, replaces = rule.entry.file, rule.entry.replaces
        if file in PATHS:
            for text in (rule.entry.bad, rule.entry.good):
                whole = FILES[file].replace(replaces, text) if replaces else text
                parts.append(bytes([PATHS.index(file)]) + whole.encode())
    for number, part in enumerate([SEPARATOR.join(parts[: len(FILES)]), *parts]):
        (folder / f"seed-{number}").write_bytes(part)


def main() -> None:
    arguments = list(sys.argv)
    if all(argument.startswith("-") for argument in arguments[1:]):
        corpus = Path(SCRATCH) / "corpus"
        corpus.mkdir()
        write_corpus(corpus)
        arguments.append(str(corpus))
    atheris.Setup([*arguments, f"-timeout={MAX_SECONDS}"], check)
    atheris.Fuzz()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as made:
        SCRATCH = made
        main()
