"""What of a package is compared: four parts, each as features that hold its place in the text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from arena.nearcopies.code import Token, program_tokens, shell_tokens
from arena.nearcopies.prose import words
from arena.packages.document import DocumentError, parse_document, prompt_of
from arena.packages.files import list_files
from arena.packages.shell import is_shell

Part = Literal["prompt", "oracle", "verifier", "data"]
PARTS: tuple[Part, ...] = get_args(Part)
WITNESSES: tuple[Part, ...] = ("prompt", "oracle", "verifier")
"""The parts that decide; data alone never does."""

MAX_FILE = 256 * 1024  # bytes of one file that are compared
MAX_PART = 512 * 1024  # and of one part
MAX_DATA_FILE = 16 * 1024  # seed data never decides alone
MAX_DATA = 256 * 1024
SURE = 24 * 1024
"""Bytes of each witness that are compared whatever other packages hold."""
MAX_MORE = 8 * 1024 * 1024
"""Bytes of witnesses beyond `SURE` that are compared of a collection: a megabyte takes seconds."""
_PROMPT_RUNS = (2, 3)
_SHELL_RUN = 3
_PROGRAM_RUN = 5
_MIN_DATA_LINE = 12
_DATA_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".txt", ".xml", ".log", ".md", ".dat", ".cnf")


class Feature(NamedTuple):
    """Something a part holds: its text, normalised, and where it stands."""

    text: str
    file: str
    line: int


class Pool:
    """How much of a collection's text may still be compared, beyond what each package may have."""

    def __init__(self, size: int = MAX_MORE) -> None:
        self.left = size

    def take(self, wanted: int) -> int:
        """How much of what is wanted there is."""
        taken = min(wanted, self.left)
        self.left -= taken
        return taken


@dataclass(frozen=True)
class PackageFeatures:
    """What of one package is compared. `content`: the digest of all its files.

    `compared`: bytes of the parts that were read. `cut`: the witnesses of which not all was read,
    since they are too long.
    """

    root: Path
    content: str
    features: dict[Part, list[Feature]]
    compared: int
    cut: frozenset[Part]

    @property
    def name(self) -> str:
        return self.root.name

    def texts(self, part: Part) -> set[str]:
        """The different features of a part."""
        return {feature.text for feature in self.features[part]}


def features_of(root: Path, pool: Pool | None = None) -> PackageFeatures:
    """The features of the package at `root`; nothing is followed or executed.

    What it holds beyond `SURE` comes from its collection's `pool`.
    """
    pool = Pool() if pool is None else pool
    found: dict[Part, list[Feature]] = {part: [] for part in PARTS}
    read = dict.fromkeys(PARTS, 0)
    cut: set[Part] = set()
    digest = hashlib.sha256()
    for file in list_files(root).files:
        content = (root / file.path).read_bytes()
        digest.update(f"{file.path}\0{hashlib.sha256(content).hexdigest()}\n".encode())
        if part := _part_of(file.path):
            limit = _limit(part, len(content), read[part], pool)
            read[part] += limit
            found[part] += _features(part, file.path, content, limit)
            if limit < len(content) and part != "data":
                cut.add(part)
    compared = sum(read.values())
    return PackageFeatures(root, digest.hexdigest(), found, compared, frozenset(cut))


def _limit(part: Part, size: int, read: int, pool: Pool) -> int:
    """How much is compared of a file of `size` bytes, where `read` bytes of its part were."""
    if part == "data":
        return min(size, MAX_DATA_FILE, MAX_DATA - read)
    wanted = min(size, MAX_FILE, MAX_PART - read)
    sure = min(wanted, max(SURE - read, 0))
    return sure + pool.take(wanted - sure)


def _part_of(path: str) -> Part | None:
    folder, _, name = path.partition("/")
    if path == "task.md":
        return "prompt"
    if path.lower().endswith(_DATA_SUFFIXES):
        return None if name.endswith(".md") and folder == "verifier" else "data"
    if folder == "oracle":
        return "oracle"
    if folder == "verifier":
        return "verifier"
    is_data = folder == "environment" and name not in ("Dockerfile", ".dockerignore")
    return "data" if is_data else None


def _features(part: Part, path: str, content: bytes, limit: int) -> list[Feature]:
    text = content[:limit].decode("utf-8", "replace").replace("\r\n", "\n")
    if part == "prompt":
        return _prompt(text)
    if part == "data":
        return _data(path, content, text)
    return _code(path, text)


def _prompt(text: str) -> list[Feature]:
    try:
        prompt = prompt_of(parse_document(text))
    except DocumentError:
        prompt = text
    first = text[: max(text.find(prompt), 0)].count("\n") + 1
    tokens = [
        Token(word, number)
        for number, line in enumerate(prompt.splitlines(), first)
        for word in words(line)
    ]
    return [feature for run in _PROMPT_RUNS for feature in _runs(tokens, run, "task.md")]


def _code(path: str, text: str) -> list[Feature]:
    if is_shell(path, text):
        return _runs(shell_tokens(text), _SHELL_RUN, path)
    return _runs(program_tokens(text, path if "." in path else ".py"), _PROGRAM_RUN, path)


def _runs(tokens: Sequence[Token], run: int, path: str) -> list[Feature]:
    """Each `run` tokens that follow each other; all of them where they are fewer."""
    if not tokens:
        return []
    count = max(len(tokens) - run + 1, 1)
    return [
        Feature(" ".join(token.text for token in tokens[i : i + run]), path, tokens[i].line)
        for i in range(count)
    ]


def _data(path: str, content: bytes, text: str) -> list[Feature]:
    """The file as a whole, and its lines where it is text."""
    whole = [Feature(hashlib.sha256(content).hexdigest(), path, 1)]
    if b"\0" in content[:1024]:
        return whole
    return whole + [
        Feature(line, path, number)
        for number, written in enumerate(text.casefold().splitlines(), 1)
        if len(line := " ".join(written.split())) >= _MIN_DATA_LINE
    ]
