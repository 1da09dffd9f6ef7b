"""Templates of much text: any Python task in a house's own frame, and tasks with one grader."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.nearcopies import originals
from bench.nearcopies.originals import Package, Spec

_BEFORE = """\
You are on call for the data desk of Harrow & Lyle. Requests reach the desk through a ticket, and
each ticket is worked by one person from start to end. The machine that you are on was set up for
this ticket alone: Python is there, the network is not. The request, as its author wrote it:

"""
_AFTER = """

House rules, which hold for every ticket of the desk. Inputs below `/root/data` are evidence and
stay as they are, down to the last byte; copy what you want to change. Text is UTF-8 without a byte
order mark, lines end with a line feed, and the last line has one, too. JSON may be laid out as you
like, since nobody reads it but programs. Numbers carry no thousands separators and no plus sign.
Don't leave scratch files, caches or logs behind; whoever closes the ticket looks through the folder
by hand. Where the request leaves a question open, choose the reading that a careful accountant
would choose, and don't write to the author, who is travelling. A ticket is closed by an automatic
check of the files that were asked for, and by nothing else: neither notes nor explanations are
read. You may work in any order and start over as often as you need within the time given.
"""
_LIBRARY = """\
import hashlib, json, os, sys, tempfile
def seen(folder):
    marks = {}
    for base, folders, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(base, name)
            with open(path, "rb") as stream:
                marks[path] = hashlib.sha256(stream.read()).hexdigest()
    return marks
def deliver(path, text):
    handle, made = tempfile.mkstemp(dir=os.path.dirname(path) or ".")
    with os.fdopen(handle, "w", encoding="utf-8", newline="\\n") as stream:
        stream.write(text if text.endswith("\\n") else text + "\\n")
    os.replace(made, path)
before = seen("data")
"""
_LAST = """\
if seen("data") != before:
    sys.exit("the evidence was changed")
"""
_CHECKS = """\
def texts_below(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in {".txt", ".csv", ".json"}:
            yield path, path.read_bytes()

def test_house_rules():
    for path, content in texts_below(ROOT):
        assert not content.startswith(b"\\xef\\xbb\\xbf"), f"{path} has a mark"
        assert b"\\r\\r" not in content, f"{path} has odd line ends"
        content.decode("utf-8")
    left = [p.name for p in ROOT.iterdir() if p.suffix in {".tmp", ".bak", ".log", ".swp"}]
    assert not left, f"left behind: {left}"

"""


_GRADER = """\
import hashlib

WANTED = {wanted}

def canonical(path):
    if path.suffix == ".json":
        return json.dumps(json.loads(path.read_text()), sort_keys=True, separators=(",", ":"))
    lines = [line.rstrip() for line in path.read_text().splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return "\\n".join(lines)

def test_all_files_are_there():
    missing = [name for name in WANTED if not (ROOT / name).is_file()]
    assert not missing, f"not delivered: {{missing}}"

def test_each_file_says_what_was_asked():
    for name, digest in WANTED.items():
        found = hashlib.sha256(canonical(ROOT / name).encode()).hexdigest()
        assert found == digest, f"{{name}} says something else"
"""


def framed(spec: Spec) -> Spec:
    """A task whose oracle is in Python, in the house's frame."""
    frames = {
        "prompt": (_BEFORE, _AFTER),
        "oracle": (_LIBRARY, _LAST),
        "checks": (_CHECKS, ""),
    }
    sections = []
    for kind, argument, text in spec.sections:
        before, after = frames.get(kind, ("", ""))
        sections.append((kind, argument, f"{before}{text.strip()}\n{after}"))
    return Spec("house", f"house-{spec.name}", spec.domain, tuple(sections))


def graded(package: Package) -> Package:
    """A table task whose oracle types the answer in, and whose verifier knows its digest alone."""
    script = package["oracle/solve.sh"].partition("<<'PY'\n")[2].rpartition("PY\n")[0]
    with tempfile.TemporaryDirectory() as made:
        data = {p.removeprefix("environment/"): t for p, t in package.items() if "/data/" in p}
        originals.write(data, Path(made))
        subprocess.run([sys.executable, "-c", script], cwd=made, check=True)
        (answer,) = (path for path in Path(made).iterdir() if path.is_file())
        text = answer.read_text()
    if answer.suffix == ".json":
        text = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.strip().encode())
    wanted = repr({answer.name: digest.hexdigest()})
    head = package["verifier/test_outputs.py"].partition("def test_")[0]
    typed = f"printf '%s\\n' {shlex.quote(text.strip())} > {answer.name}\n"
    front, _, prompt = package["task.md"].partition("## prompt\n\n")
    return {
        **package,
        "task.md": f"{front}## prompt\n\n{_BEFORE}{prompt.strip()}\n{_AFTER}",
        "oracle/solve.sh": f"#!/bin/bash\nset -euo pipefail\ncd /root\n{typed}",
        "verifier/test_outputs.py": head + _GRADER.format(wanted=wanted),
    }
