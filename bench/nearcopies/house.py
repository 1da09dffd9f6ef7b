"""A template of much text: any Python task in a house's own frame of prompt, oracle and checks."""

from __future__ import annotations

from bench.nearcopies.originals import Spec

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


def framed(spec: Spec) -> Spec | None:
    """The task in the house's frame; None where its oracle is a shell script."""
    if any(kind == "oracle" and argument == "sh" for kind, argument, _ in spec.sections):
        return None
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
