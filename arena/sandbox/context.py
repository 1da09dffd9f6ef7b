"""What an image is built from: the regular files of `environment/`, and no frontend but Docker's.

A `# syntax=` directive names a program that BuildKit fetches and runs to read the Dockerfile. That
would be code of the author's choice outside of any container, so the context goes without it.
"""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path

from arena.sandbox.archives import Bundle, regular_files

_BOM = b"\xef\xbb\xbf"
_DIRECTIVE = re.compile(rb"[a-z0-9]+=")
_NOT_IN_A_NAME = re.compile(rb"[^a-z0-9=]+")


def build_context(folder: Path) -> bytes:
    """A tar archive without times and owners, which would miss the engine's layer cache.

    Raises ValueError where the Dockerfile is none.
    """
    bundle = Bundle()
    files = regular_files(folder)
    for path in sorted({parent for file in files for parent in file.parents}):
        if folder in path.parents:
            bundle.add_folder(path.relative_to(folder).as_posix())
    for path in files:
        name, content = path.relative_to(folder).as_posix(), path.read_bytes()
        mode = 0o755 if path.stat().st_mode & 0o111 else 0o644
        bundle.add_file(name, without_syntax(content) if name == "Dockerfile" else content, mode)
    return bundle.finish()


def without_syntax(dockerfile: bytes) -> bytes:
    """The Dockerfile with each syntax directive made a comment, every other line where it was.

    Directives end at the first comment, so those that stay go before it. BuildKit looks for the
    directive in other notations too, `// syntax=` and JSON: nothing that begins so is a Dockerfile.
    """
    lines = dockerfile.removeprefix(_BOM).split(b"\n")
    head = list(takewhile(lambda line: line.lstrip()[:1] in (b"", b"#"), lines))
    _require_instruction(lines, len(head))
    kept = [line for line in head if not _names_syntax(line)]
    comments = [b"# not used here: " + line.strip() for line in head if _names_syntax(line)]
    directives = sum(1 for _ in takewhile(_is_directive, kept))
    return b"\n".join([*kept[:directives], *comments, *kept[directives:], *lines[len(head) :]])


def _require_instruction(lines: list[bytes], index: int) -> None:
    if index < len(lines) and not lines[index].lstrip()[:1].isalpha():
        begins = lines[index].strip()[:20].decode("utf-8", "replace")
        raise ValueError(f"environment/Dockerfile, line {index + 1}: {begins!r} is no instruction")


def _names_syntax(line: bytes) -> bool:
    """Wider than BuildKit's own reading, whose notion of a space has changed with its versions."""
    return _NOT_IN_A_NAME.sub(b"", line.lower()).startswith(b"syntax=")


def _is_directive(line: bytes) -> bool:
    name = _NOT_IN_A_NAME.sub(b"", line.lower())
    return line.startswith(b"#!") or _DIRECTIVE.match(name) is not None
