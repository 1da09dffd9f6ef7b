"""What a build is made from: no frontend of the author's, and nothing else changed."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from arena.sandbox.context import build_context, without_syntax

FROM = b"FROM busybox:1.35.0\nRUN true\n"
COMMENT = b"# not used here: "

REWRITTEN = {
    "alone": (b"# syntax=evil\n" + FROM, COMMENT + b"# syntax=evil\n" + FROM),
    "without a space": (b"#SYNTAX = evil\n" + FROM, COMMENT + b"#SYNTAX = evil\n" + FROM),
    "other spaces": (
        b"#\xc2\xa0syntax\t=evil\n" + FROM,
        COMMENT + b"#\xc2\xa0syntax\t=evil\n" + FROM,
    ),
    "a carriage return for a space": (
        b"#\rsyntax=evil\r\n" + FROM,
        COMMENT + b"#\rsyntax=evil\n" + FROM,
    ),
    "a byte order mark": (
        b"\xef\xbb\xbf# syntax=evil\n" + FROM,
        COMMENT + b"# syntax=evil\n" + FROM,
    ),
    "a shebang": (
        b"#!/usr/bin/docker\n# syntax=evil\n" + FROM,
        b"#!/usr/bin/docker\n" + COMMENT + b"# syntax=evil\n" + FROM,
    ),
    "before escape": (
        b"# syntax=evil\n# escape=`\n# text\n" + FROM,
        b"# escape=`\n" + COMMENT + b"# syntax=evil\n# text\n" + FROM,
    ),
    "twice, after escape and check": (
        b"# escape=`\n# syntax=a\n# check=skip=all\n# syntax=b\n\n" + FROM,
        b"# escape=`\n# check=skip=all\n"
        + COMMENT
        + b"# syntax=a\n"
        + COMMENT
        + b"# syntax=b\n\n"
        + FROM,
    ),
    "nothing but that": (b"# syntax=evil", COMMENT + b"# syntax=evil"),
}


OTHER_NOTATIONS = [
    b"// syntax=evil\n" + FROM,
    b'{"syntax": "evil"}',
    b'\n \t\n{"syntax":\n"evil"}',
    b"#!/bin/x\n// syntax=evil\n",
    b'#!/bin/x\n{"syntax": "evil"}\n',
    b"\xef\xbb\xbf//syntax=evil\n",
]


@pytest.mark.parametrize("case", REWRITTEN)
def test_a_syntax_directive_becomes_a_comment(case: str) -> None:
    before, after = REWRITTEN[case]
    assert without_syntax(before) == after
    assert before.count(b"\n") == after.count(b"\n")


@pytest.mark.parametrize(
    "text",
    [
        FROM,
        b"",
        b"# escape=`\n# a comment\n\n" + FROM,
        b"# the syntax=1 of text\n" + FROM,
        b"FROM busybox:1.35.0\n# syntax=evil\n",
        b"\n\n  FROM busybox:1.35.0\r\nENV X=caf\xe9\r\n",
    ],
)
def test_nothing_else_is_touched(text: bytes) -> None:
    assert without_syntax(text) == text


@pytest.mark.parametrize("text", OTHER_NOTATIONS)
def test_other_notations_are_no_dockerfile(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"Dockerfile, line \d: .* is no instruction"):
        without_syntax(text)


def test_the_context_has_regular_files_alone_and_is_the_same_each_time(tmp_path: Path) -> None:
    for name, text in {"Dockerfile": "# syntax=evil\n", "a/b.txt": "b", "run.sh": "x"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "run.sh").chmod(0o700)
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").symlink_to("/etc")
    context = build_context(tmp_path)
    (tmp_path / "a/b.txt").touch()
    assert build_context(tmp_path) == context
    with tarfile.open(fileobj=io.BytesIO(context)) as tar:
        found = {member.name: (member.mode, member.isfile()) for member in tar}
        dockerfile = tar.extractfile("Dockerfile")
        assert dockerfile is not None
        assert dockerfile.read() == b"# not used here: # syntax=evil\n"
    assert found == {
        "Dockerfile": (0o644, True),
        "a": (0o755, False),
        "a/b.txt": (0o644, True),
        "run.sh": (0o755, True),
    }
