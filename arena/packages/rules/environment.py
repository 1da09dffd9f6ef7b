"""Rules about `environment/`: what Docker will make of it, and whether it stays the same."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from fnmatch import translate

from arena.packages.dockerfile import (
    MAX_WORDS_LENGTH,
    Instruction,
    base_images,
    copy_sources,
)
from arena.packages.findings import shown
from arena.packages.installs import Install
from arena.packages.reading import DOCKERFILE, MAX_REQUIRED_BYTES, TASK, PackageText
from arena.packages.rules.rule import Fault

IGNORE_FILES = ("environment/.dockerignore", "environment/Dockerfile.dockerignore")
MAX_COPY_SOURCES = 1_000
MIN_ANSWER_BYTES = 8
_NO_ANSWER = re.compile(
    r"requirements.*\.txt|constraints.*\.txt|LICEN[CS]E.*|\.git\w+|__init__\.py"
)
_PINNED = re.compile(r"==|===|@|\.whl$|\.tar\.gz$|\.zip$")
_VARIANTS = frozenset({"", "slim", "alpine", "lts"})
_FLOATING = frozenset({"latest", "stable", "edge", "nightly", "main", "rolling"})


def dockerfile_reads(package: PackageText) -> Iterator[Fault]:
    for line, problem, hint in package.dockerfile.problems if package.dockerfile else ():
        yield Fault(problem, DOCKERFILE, hint, line)


def from_comes_first(package: PackageText) -> Iterator[Fault]:
    if package.dockerfile is None:
        return
    instructions = package.dockerfile.instructions
    first = next((i for i in instructions if i.name != "ARG"), None)
    if first is None or first.name != "FROM":
        found = f"{first.name[:40]} stands" if first else "nothing stands"
        yield Fault(
            f"{found} where FROM must be the first instruction",
            DOCKERFILE,
            "Begin with FROM <image>; only ARG may stand before it.",
            first.line if first else 1,
        )


def copied_files_exist(package: PackageText) -> Iterator[Fault]:
    context = _context(package.below("environment"))
    for instruction, source in _copied(package):
        if problem := _source_problem(source, context):
            yield Fault(
                f"{instruction.name} of {shown(source)}: {problem}",
                DOCKERFILE,
                "Put it into environment/, and name it by its path below that folder; "
                "capitals count.",
                instruction.line,
            )


def copies_are_few(package: PackageText) -> Iterator[Fault]:
    copies = _copies(package)
    count = 0
    for instruction in copies:
        long = len(instruction.value) > MAX_WORDS_LENGTH
        count += 0 if long else len(copy_sources(instruction))
        if long or count > MAX_COPY_SOURCES:
            limits = f"{MAX_WORDS_LENGTH:,} characters a line, {MAX_COPY_SOURCES:,} sources in all"
            problem = f"{instruction.name} names more than is checked ({limits})"
            yield Fault(problem, DOCKERFILE, "Copy whole folders.", instruction.line)
            return


def answers_stay_out(package: PackageText) -> Iterator[Fault]:
    for instruction, source in _copied(package):
        if _is_secret_part(source):
            yield Fault(
                f"{instruction.name} of {shown(source)} puts it where the agent can read it",
                DOCKERFILE,
                "Leave oracle/ and verifier/ out of the image; the arena mounts them when due.",
                instruction.line,
            )
    yield from _equal_files(package)


def _equal_files(package: PackageText) -> Iterator[Fault]:
    """Files of environment/ with the content of one in verifier/ or oracle/."""
    secret: dict[str, str] = {}
    hidden = package.below("verifier", "oracle")
    for path in hidden:
        for content in _contents(package, path, MAX_REQUIRED_BYTES):
            secret.setdefault(content, path)
    # line ends and blanks around it at most double a text
    most = min(MAX_REQUIRED_BYTES, 2 * max((package.sizes[p] for p in hidden), default=0))
    for path in package.below("environment"):
        other = next((secret[c] for c in _contents(package, path, most) if c in secret), None)
        # an input that the task names, and the verifier keeps a copy of, is no answer
        if other and not _is_named(posixpath.basename(path), package.prompt):
            yield Fault(
                f"{path} has the content of {other}, so the agent can read it",
                path,
                f"Take it out of environment/, or name it in {TASK} if it is an input.",
            )


def _is_named(name: str, text: str) -> bool:
    return bool(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text))


def _contents(package: PackageText, path: str, most: int) -> Iterator[str]:
    """What tells a file's content: of its bytes, and up to a size of its text without line ends."""
    if package.sizes[path] < MIN_ANSWER_BYTES or _NO_ANSWER.fullmatch(posixpath.basename(path)):
        return
    yield package.hashes[path]
    small = package.sizes[path] <= most
    if small and (text := (package.text(path) or "").strip()):
        yield text.replace("\r\n", "\n")


def nothing_is_ignored(package: PackageText) -> Iterator[Fault]:
    """Patterns of `.dockerignore` have no effect: the context is the whole folder, everywhere."""
    for path in IGNORE_FILES:
        for number, line in enumerate((package.text(path) or "").split("\n"), 1):
            if (pattern := line.strip()) and not pattern.startswith("#"):
                yield Fault(
                    f"{shown(pattern)} keeps nothing out of the image: no ignore file is read",
                    path,
                    "Take out of environment/ what the image must not have, or COPY the rest by "
                    "name; then remove this file.",
                    number,
                )
                break


def base_image_is_pinned(package: PackageText) -> Iterator[Fault]:
    for image, line in base_images(package.dockerfile) if package.dockerfile else ():
        name, _, digest = image.partition("@")
        _, _, tag = name.rpartition("/")[2].partition(":")
        if not digest and set(tag.split("-")) <= _FLOATING | _VARIANTS:
            yield Fault(
                f"the base image {shown(image)} is not pinned",
                DOCKERFILE,
                "Give a version, or better a digest: `FROM python:3.12.7-slim@sha256:…`.",
                line,
            )


def dependencies_are_pinned(package: PackageText) -> Iterator[Fault]:
    files: dict[str, None] = {}
    for instruction, install in package.image_installs:
        if install.is_constrained:
            continue
        files |= dict.fromkeys(install.files)
        loose = [name for name in install.names if _is_loose(install, name)]
        if loose:
            yield Fault(
                f"{install.tool} installs {', '.join(loose[:5])} in whatever version is newest",
                DOCKERFILE,
                "Pin each: `pip install numpy==2.1.3`, `npm install left-pad@1.3.0`.",
                instruction.line,
            )

    for path, line, requirement in requirements(package, files):
        if requirement[0] not in "-./" and not _PINNED.search(requirement):
            hint = "Pin it: `name==version`."
            yield Fault(f"{shown(requirement)} is not pinned", path, hint, line)


def requirements(package: PackageText, files: Iterable[str]) -> Iterator[tuple[str, int, str]]:
    """The lines of the image's requirements files of these names: (path, line, text)."""
    wanted = {posixpath.basename(file) for file in files}
    for path in package.below("environment"):
        if posixpath.basename(path) not in wanted:
            continue
        for number, line in enumerate((package.text(path) or "").split("\n"), 1):
            if requirement := line.partition("#")[0].partition(";")[0].strip():
                yield path, number, requirement


def _is_loose(install: Install, name: str) -> bool:
    if install.tool == "npm":
        return "@" not in name[1:] or name.endswith(("@latest", "@next"))
    if install.tool != "pip" or name in {"pip", "setuptools", "wheel", "uv"}:
        return False
    if name.startswith("git+"):
        return "@" not in name.rpartition("/")[2]
    return not _PINNED.search(name) and not name.startswith(("$", "http"))


def resources_are_given(package: PackageText) -> Iterator[Fault]:
    """Only where the caps of a challenge are known."""
    front, caps = package.front_matter, package.caps
    if front is None or caps is None or package.task is None:
        return
    asked = (
        (("agent", "timeout_sec"), front.agent.timeout_sec, caps.agent_timeout_sec, "s"),
        (("verifier", "timeout_sec"), front.verifier.timeout_sec, caps.verifier_timeout_sec, "s"),
        (
            ("environment", "build_timeout_sec"),
            front.environment.build_timeout_sec,
            caps.build_timeout_sec,
            "s",
        ),
        (("environment", "cpus"), front.environment.cpus, caps.cpus, "cores"),
        (("environment", "memory_mb"), front.environment.memory_mb, caps.memory_mb, "MiB"),
    )
    for path, value, cap, unit in asked:
        if value > cap:
            message = f"{'.'.join(path)} is {value:g}, and a challenge gives {cap:g} {unit}"
            hint = "The run gets what the challenge gives; see that the task works with it."
            yield Fault(message, TASK, hint, package.task.line_of(path))


def _copies(package: PackageText) -> list[Instruction]:
    instructions = package.dockerfile.instructions if package.dockerfile else []
    return [i for i in instructions if i.name in {"COPY", "ADD"}]


def _copied(package: PackageText) -> Iterator[tuple[Instruction, str]]:
    """Every source of every COPY and ADD, up to the limits."""
    count = 0
    for instruction in _copies(package):
        if len(instruction.value) > MAX_WORDS_LENGTH:
            return
        for source in copy_sources(instruction):
            count += 1
            if count > MAX_COPY_SOURCES:
                return
            yield instruction, source


def _is_secret_part(source: str) -> bool:
    """Whether a path that leaves environment/ names the package's oracle or verifier."""
    parts = posixpath.normpath(source).split("/")
    return parts[0] == ".." and any(p in {"oracle", "verifier", "solution", "tests"} for p in parts)


def _context(files: list[str]) -> set[str]:
    """The paths of files and folders below environment/."""
    found: set[str] = set()
    for file in files:
        path = file.removeprefix("environment/")
        while path and path not in found:
            found.add(path)
            path = posixpath.dirname(path)
    return found


def _source_problem(source: str, context: set[str]) -> str | None:
    if "$" in source:
        return None  # a build argument: only the build knows its value
    path = posixpath.normpath(source.lstrip("/") or ".")
    if path == ".." or path.startswith("../"):
        return "it leaves environment/"
    if path == "." or path in context:
        return None
    if any(c in path for c in "*?[") and _matches_any(context, path):
        return None
    if source.startswith("/"):
        return "an absolute path is looked for below environment/, and it is not there"
    return "it is not in environment/"


def _matches_any(paths: set[str], pattern: str) -> bool:
    """Docker's path pattern: `*` and `?` stay within one name, `**` is any number of folders."""
    parts = pattern.replace("[^", "[!").split("/")
    at = parts.index("**") if "**" in parts else len(parts)
    before, after = parts[:at], [part for part in parts[at:] if part != "**"]
    compiled = [(part, re.compile(translate(part))) for part in before + after]
    slashes = len(compiled) - 1
    for path in paths:
        count = path.count("/")
        if count == slashes or (count > slashes and at < len(parts)):
            names = path.split("/")
            names = names[:at] + names[max(at, len(names) - len(after)) :]
            if all(n == p or r.match(n) for n, (p, r) in zip(names, compiled, strict=True)):
                return True
    return False
