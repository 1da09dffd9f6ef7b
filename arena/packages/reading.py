"""What the rules read of one package: its files and their texts, each parsed once.

Nothing is followed and nothing executed: regular files below the package's folder are read as
bytes, up to the limits of `files`.
"""

from __future__ import annotations

import hashlib
import posixpath
import shlex
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from arena.packages.agentcode import AgentsFolders
from arena.packages.dockerfile import (
    Dockerfile,
    Instruction,
    arguments,
    parse_dockerfile,
    without_flags,
)
from arena.packages.document import Document, DocumentError, parse_document, prompt_of
from arena.packages.files import FileList, list_files
from arena.packages.installs import Install, installs
from arena.packages.pythontext import PythonFile
from arena.packages.schema import DEFAULT_WORKSPACE, EnvironmentSection, FrontMatter
from arena.packages.shell import ShellScript, is_shell
from arena.packages.trees import Allowance

TASK = "task.md"
DOCKERFILE = "environment/Dockerfile"
TEST = "verifier/test.sh"
DESCRIPTION = "verifier/verifier.md"
ORACLE = "oracle/solve.sh"
REQUIRED_FILES = (TASK, DOCKERFILE, TEST, DESCRIPTION, ORACLE)

MAX_READ_BYTES = 1024 * 1024
MAX_REQUIRED_BYTES = 256 * 1024
MAX_SCRIPT_BYTES = 512 * 1024
MAX_PYTHON_TOKENS = 80_000
"""The scripts of verifier/ and oracle/ in all: each is parsed, and a token can take 2 KB there."""

_MARKS = ",.;:()[]{}+-*/%@&|^~<>=!'\"`"
_KEPT_BYTES = 8 * 1024 * 1024
LFS_POINTER = b"version https://git-lfs.github.com/spec/"

_TEXT_SUFFIXES = (".md", ".sh", ".bash", ".py", ".yaml", ".yml", ".toml", ".json", ".cfg", ".ini")
_DATA_SUFFIXES = (
    *_TEXT_SUFFIXES,
    ".txt",
    ".csv",
    ".tsv",
    ".env",
    ".conf",
    ".pem",
    ".key",
    ".js",
    ".ts",
    "Dockerfile",
)


class ResourceCaps(NamedTuple):
    """What a challenge gives at most. Times in seconds, memory in MiB."""

    agent_timeout_sec: float
    verifier_timeout_sec: float
    build_timeout_sec: float
    cpus: float
    memory_mb: float


class BadText(NamedTuple):
    """A file that is not text: what was found in it, and the line."""

    path: str
    found: str
    line: int


class Scripts(NamedTuple):
    """The texts of scripts by path, and the paths of those beyond the limit."""

    read: dict[str, str]
    unread: list[str]


class PackageText:
    """One package as its rules see it."""

    def __init__(self, root: Path, caps: ResourceCaps | None = None, alone: bool = True) -> None:
        """`alone`: no collection around it, that could give a licence."""
        self.root = root
        self.name = root.name
        self.caps = caps
        self.alone = alone
        self._texts: dict[str, str | None] = {}
        self._kept = 0
        self._allowance = Allowance()

    @cached_property
    def listed(self) -> FileList:
        return list_files(self.root)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Bytes of each regular file, by its path below the package."""
        return {file.path: file.size for file in self.listed.files}

    def below(self, *folders: str) -> list[str]:
        """The files below some of the package's folders, in order."""
        return [path for path in self.sizes if path.startswith(tuple(f"{f}/" for f in folders))]

    @cached_property
    def must_be_text(self) -> list[str]:
        """The files that are read as text: seed data may be anything, the rest may not."""
        named = {*REQUIRED_FILES, "environment/.dockerignore"}
        return [
            path
            for path in self.sizes
            if path in named
            or (path.startswith("environment/skills/") and path.endswith(".md"))
            or (path.startswith(("verifier/", "oracle/")) and path.endswith(_TEXT_SUFFIXES))
        ]

    def bad_texts(self) -> Iterator[BadText]:
        """Those of `must_be_text` that are none."""
        for path in self.must_be_text:
            if self._is_read(path) and self.text(path) is None:
                yield _bad_text(path, (self.root / path).read_bytes())

    def text(self, path: str) -> str | None:
        """A file's text; None where it is missing, too large to be read, or no UTF-8."""
        if path in self._texts:
            return self._texts[path]
        text = self._read(path)
        if self._kept < _KEPT_BYTES:  # a package is never held in memory as a whole
            self._kept += self.sizes.get(path, 0)
            self._texts[path] = text
        return text

    def _is_read(self, path: str) -> bool:
        limit = MAX_REQUIRED_BYTES if path in REQUIRED_FILES else MAX_READ_BYTES
        return 0 < self.sizes.get(path, 0) <= limit

    def _read(self, path: str) -> str | None:
        if not self._is_read(path):
            return None
        try:
            text = (self.root / path).read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            return None
        return None if "\0" in text else text

    def small_texts(self, most: int = MAX_REQUIRED_BYTES) -> Iterator[tuple[str, str]]:
        """Text files, seed data among them, of at most so many bytes."""
        for path, size in self.sizes.items():
            is_small = path.endswith(_DATA_SUFFIXES) and size <= most
            if is_small and (text := self.text(path)):
                yield path, text

    @cached_property
    def hashes(self) -> dict[str, str]:
        """sha256 of each file, in hexadecimal digits."""
        return {path: _sha256(self.root / path) for path in self.sizes}

    @cached_property
    def lfs_pointers(self) -> list[str]:
        small = [path for path, size in self.sizes.items() if 0 < size < 1024]
        return [p for p in small if _starts_with(self.root / p, LFS_POINTER)]

    # --- task.md -------------------------------------------------------------------------------

    @cached_property
    def _task(self) -> Document | DocumentError | None:
        text = self.text(TASK)
        if text is None:
            return None
        try:
            return parse_document(text)
        except DocumentError as exc:
            return exc

    @property
    def task(self) -> Document | None:
        return self._task if isinstance(self._task, Document) else None

    @property
    def task_problem(self) -> DocumentError | None:
        return self._task if isinstance(self._task, DocumentError) else None

    @cached_property
    def _front_matter(self) -> FrontMatter | ValidationError | None:
        if self.task is None:
            return None
        try:
            return FrontMatter.model_validate(self.task.front_matter)
        except ValidationError as exc:
            return exc

    @property
    def front_matter(self) -> FrontMatter | None:
        """The typed front matter; None where it has a fault."""
        return self._front_matter if isinstance(self._front_matter, FrontMatter) else None

    @property
    def key_problems(self) -> list[dict[str, Any]]:
        """What pydantic says of the front matter's keys."""
        if isinstance(self._front_matter, ValidationError):
            return [dict(error) for error in self._front_matter.errors()]
        return []

    def stated(self, section: str, key: str) -> object:
        """The value of `section.key` as it is written, whatever else is wrong; None without."""
        values = self.task.front_matter.get(section) if self.task else None
        return values.get(key) if isinstance(values, dict) else None

    @property
    def has_network(self) -> bool | None:
        """Whether the package declares that it needs the network; None where that is unclear."""
        if self.task is None:
            return None
        older, newer = (self.task.front_matter.get(k) or {} for k in ("environment", "sandbox"))
        if not isinstance(older, dict) or not isinstance(newer, dict):
            return None
        try:
            return EnvironmentSection.model_validate({**newer, **older}).has_network
        except ValidationError:
            return None

    @property
    def prompt(self) -> str:
        return prompt_of(self.task) if self.task else ""

    # --- environment, scripts ------------------------------------------------------------------

    @cached_property
    def dockerfile(self) -> Dockerfile | None:
        text = self.text(DOCKERFILE)
        return parse_dockerfile(text) if text else None

    @cached_property
    def agents_folders(self) -> AgentsFolders:
        """Where the agent's work is in the container: the artifacts, else where it works."""
        instructions = self.dockerfile.instructions if self.dockerfile else ()
        start: str | None = None
        for instruction in instructions:
            if instruction.name == "FROM":
                start = None
            elif instruction.name == "WORKDIR" and (instruction.value.startswith("/") or start):
                start = posixpath.normpath(posixpath.join(start or "/", instruction.value))
        start = None if start and "$" in start else start
        declared = self.front_matter.artifacts if self.front_matter else ()
        folders = declared or (DEFAULT_WORKSPACE, start or "/")
        return AgentsFolders(tuple(f for f in folders if posixpath.normpath(f) != "/"), start)

    @cached_property
    def scripts(self) -> Scripts:
        """The scripts of verifier/ and oracle/, up to the limit: those that start come first."""
        read, unread = dict[str, str](), list[str]()
        room, tokens = MAX_SCRIPT_BYTES, MAX_PYTHON_TOKENS
        code = [path for path in self.must_be_text if path.startswith(("verifier/", "oracle/"))]
        for path in sorted(code, key=lambda path: path not in REQUIRED_FILES):
            text = self.text(path)
            if path.endswith((".py", ".sh", ".bash")) or (text and is_shell(path, text)):
                room -= self.sizes[path]
                tokens -= _tokens(text) if text and path.endswith(".py") else 0
                if room < 0 or tokens < 0:
                    unread.append(path)
                elif text:
                    read[path] = text
        return Scripts(read, unread)

    @cached_property
    def shell_scripts(self) -> dict[str, ShellScript]:
        """The shell scripts of verifier/ and oracle/."""
        return {
            p: ShellScript(t, self._allowance)
            for p, t in self.scripts.read.items()
            if not p.endswith(".py") and is_shell(p, t)
        }

    @cached_property
    def python_files(self) -> dict[str, PythonFile]:
        """The Python files of verifier/ and oracle/."""
        return {
            p: PythonFile(t, self._allowance)
            for p, t in self.scripts.read.items()
            if p.endswith(".py")
        }

    @cached_property
    def image_installs(self) -> list[tuple[Instruction, Install]]:
        """What the image's build installs, by instruction."""
        found: list[tuple[Instruction, Install]] = []
        for instruction in self.dockerfile.instructions if self.dockerfile else ():
            if instruction.name == "RUN":
                command = without_flags(instruction.value)
                if command.startswith("["):
                    command = shlex.join(arguments(instruction))  # the JSON form, where it is one
                script = "\n".join([command, *instruction.heredocs])
                found += [
                    (instruction, install)
                    for install in installs(ShellScript(script, self._allowance))
                ]
        return found


def _tokens(text: str) -> int:
    """At least as many as a text's tokens, about: its words and its marks."""
    return len(text.split()) + sum(map(text.count, _MARKS))


def _bad_text(path: str, content: bytes) -> BadText:
    try:
        before = content.decode("utf-8").partition("\0")[0]
        return BadText(path, "a NUL byte", before.count("\n") + 1)
    except UnicodeDecodeError as exc:
        line = content.count(b"\n", 0, exc.start) + 1
        return BadText(path, f"the byte {content[exc.start]:#04x}", line)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _starts_with(path: Path, prefix: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(prefix)) == prefix
