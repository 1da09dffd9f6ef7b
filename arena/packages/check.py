"""The checks that protect a run, on one package. Text is read, nothing is executed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import ValidationError

from arena.packages.dockerfile import copy_sources, parse_dockerfile
from arena.packages.document import Document, DocumentError, parse_document, prompt_of
from arena.packages.files import list_files
from arena.packages.findings import Finding, error, shown, warning
from arena.packages.package import TaskPackage
from arena.packages.schema import FrontMatter
from arena.packages.verifier import check_verifier

REQUIRED_FILES = (
    "task.md",
    "environment/Dockerfile",
    "verifier/test.sh",
    "verifier/verifier.md",
    "oracle/solve.sh",
)
_NEEDED = f"Every package needs: {', '.join(REQUIRED_FILES)} and a verifier/rubrics/*.md."
TEXT_SUFFIXES = (".md", ".sh", ".py", ".yaml", ".yml", ".toml", "Dockerfile")
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
MAX_READ_BYTES = 1024 * 1024
MAX_REQUIRED_BYTES = 256 * 1024
MAX_COPY_SOURCES = 1_000
MAX_COPY_LENGTH = 10_000
MAX_FINDINGS = 100


@dataclass
class PackageReport:
    """What the check of one package found; `package` is None where there is an error."""

    path: str
    name: str
    findings: list[Finding] = field(default_factory=list)
    package: TaskPackage | None = None

    @property
    def ok(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)


class PackageError(Exception):
    """A folder that is no sound task package; `findings` say why."""

    def __init__(self, root: Path, findings: Sequence[Finding]) -> None:
        first = next(f for f in findings if f.severity == "error")
        super().__init__(f"{root.name}: {first.file}: {first.message} ({first.code})")
        self.findings = tuple(findings)


def load_package(root: Path) -> TaskPackage:
    """Reads and checks the package at `root`.

    Raises:
        PackageError: the check found an error.
    """
    report = check_package(root)
    if report.package is None:
        raise PackageError(root, report.findings)
    return report.package


def check_package(root: Path) -> PackageReport:
    """Checks the package at `root` and loads it where no error was found."""
    report = PackageReport(path=str(root), name=root.name)
    if not root.is_dir():
        report.findings.append(_missing(".", f"{shown(root.name)} is not a folder"))
        return report
    listed = list_files(root)
    report.findings += listed.findings
    report.findings += _check_name(root.name)
    sizes = {file.path: file.size for file in listed.files}
    report.findings += _check_required(sizes)
    texts, unreadable = _read_texts(root, sizes)
    report.findings += unreadable
    front_matter, prompt, found = _check_task(texts.get("task.md"))
    report.findings += found
    if dockerfile := texts.get("environment/Dockerfile"):
        report.findings += _check_dockerfile(dockerfile, set(sizes))
    report.findings += check_verifier(texts, set(sizes))
    report.findings = _at_most(report.findings)
    if report.ok and front_matter is not None:
        report.package = TaskPackage(root=root, front_matter=front_matter, prompt=prompt)
    return report


def _at_most(findings: list[Finding]) -> list[Finding]:
    """The first findings, errors before warnings: thousands of one fault help nobody."""
    if len(findings) <= MAX_FINDINGS:
        return findings
    worst = sorted(findings, key=lambda finding: finding.severity != "error")
    left = f"{len(findings) - MAX_FINDINGS:,} more findings are not shown"
    return [*worst[:MAX_FINDINGS], warning("TP000", left, ".", "Mend the ones above first.")]


def _missing(file: str, message: str) -> Finding:
    return error("TP001", message, file, _NEEDED)


def _check_name(name: str) -> Iterator[Finding]:
    if not SLUG.fullmatch(name):
        yield error(
            "TP010",
            f"the folder's name {shown(name)} is not a slug",
            ".",
            "Use a-z, 0-9 and '-', at most 64 characters, no '-' at either end.",
        )


def _check_required(sizes: dict[str, int]) -> Iterator[Finding]:
    for path in REQUIRED_FILES:
        if path not in sizes:
            yield _missing(path, f"{path} is missing")
        elif sizes[path] == 0:
            yield _missing(path, f"{path} is empty")
        elif sizes[path] > MAX_REQUIRED_BYTES:
            hint = f"The checks read it; it may have {MAX_REQUIRED_BYTES // 1024} KiB."
            yield error("TP008", f"{path} has {sizes[path]:,} bytes", path, hint)
    if not any(re.fullmatch(r"verifier/rubrics/[^/]+\.md", path) for path in sizes):
        yield _missing("verifier/rubrics", "verifier/rubrics holds no .md file")


def _read_texts(root: Path, sizes: dict[str, int]) -> tuple[dict[str, str], list[Finding]]:
    """The files that the checks read, as text; what is too large for them is not text for us."""
    texts: dict[str, str] = {}
    findings: list[Finding] = []
    for path, size in sizes.items():
        limit = MAX_REQUIRED_BYTES if path in REQUIRED_FILES else MAX_READ_BYTES
        if not path.endswith(TEXT_SUFFIXES) or size > limit:
            continue
        content = (root / path).read_bytes()
        try:
            texts[path] = content.decode("utf-8")
            bad = "a NUL byte" if "\0" in texts[path] else None
            line = texts[path].partition("\0")[0].count("\n") + 1
        except UnicodeDecodeError as exc:
            bad, line = (
                f"the byte {content[exc.start]:#04x}",
                content.count(b"\n", 0, exc.start) + 1,
            )
        if bad:
            texts.pop(path, None)
            hint = "Save the file as UTF-8 text."
            findings.append(error("TP013", f"{path} is not UTF-8 text: {bad}", path, hint, line))
    return texts, findings


def _check_task(text: str | None) -> tuple[FrontMatter | None, str, list[Finding]]:
    if not text:
        return None, "", []
    try:
        document = parse_document(text)
    except DocumentError as exc:
        hint = "Begin the file with a line of ---, YAML, a line of ---, then the sections."
        return None, "", [error("TP002", exc.message, "task.md", hint, exc.line)]
    findings: list[Finding] = []
    prompt = prompt_of(document)
    if not prompt:
        findings.append(
            error(
                "TP004",
                "there is no prompt",
                "task.md",
                "Write what the agent is to do under a heading '## prompt'.",
                document.body_line,
            )
        )
    try:
        return FrontMatter.model_validate(document.front_matter), prompt, findings
    except ValidationError as exc:
        return None, prompt, findings + [_key_finding(document, dict(e)) for e in exc.errors()]


def _key_finding(document: Document, problem: dict[str, object]) -> Finding:
    location = problem["loc"]
    path = tuple(part for part in location if isinstance(part, str | int))  # type: ignore[attr-defined]
    name = ".".join(str(part) for part in path) or "front matter"
    if problem["type"] == "missing":
        message = f"the key {name} is missing"
        hint = "Required: version, metadata (author_hub, category), agent, verifier, environment."
    else:
        message = f"{name}: {str(problem['msg']).removeprefix('Value error, ')}"
        if problem["type"] != "value_error":
            message += f" (found {shown(problem['input'])})"
        hint = f"Give {name} a value that is allowed."
    return error("TP003", message, "task.md", hint, document.line_of(path))


def _check_dockerfile(text: str, files: set[str]) -> Iterator[Finding]:
    file = "environment/Dockerfile"
    instructions = parse_dockerfile(text)
    first = next((i for i in instructions if i.name != "ARG"), None)
    if first is None or first.name != "FROM":
        found = f"{first.name} stands" if first else "nothing stands"
        yield error(
            "TP005",
            f"{found} where FROM must be the first instruction",
            file,
            "Begin with FROM <image>; only ARG may stand before it.",
            first.line if first else 1,
        )
    context = _context(files)
    checked = 0
    for instruction in instructions:
        if instruction.name not in {"COPY", "ADD"}:
            continue
        long = len(instruction.value) > MAX_COPY_LENGTH
        sources = [] if long else copy_sources(instruction) or []
        checked += len(sources)
        if long or checked > MAX_COPY_SOURCES:
            limits = f"{MAX_COPY_LENGTH:,} characters a line, {MAX_COPY_SOURCES:,} sources in all"
            problem = f"{instruction.name} names more than is checked ({limits})"
            yield error("TP008", problem, file, "Copy whole folders.", instruction.line)
            return
        for source in sources:
            if wrong := _source_problem(source, context):
                yield error(
                    "TP006",
                    f"{instruction.name} of {shown(source)}: {wrong}",
                    file,
                    "Copy what lies in environment/, by a path relative to it.",
                    instruction.line,
                )


def _context(files: set[str]) -> set[str]:
    """The paths of files and folders below environment/."""
    found: set[str] = set()
    for file in files:
        path = file.removeprefix("environment/")
        while path and path != file and path not in found:
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
    if ("*" in path or "?" in path) and any(_matches(name, path) for name in context):
        return None
    return "it is not in environment/"


def _matches(path: str, pattern: str) -> bool:
    """Docker's path pattern: `*` and `?` stay within one name. fnmatch never backtracks far."""
    names, patterns = path.split("/"), pattern.replace("[", "[[]").split("/")
    return len(names) == len(patterns) and all(map(fnmatchcase, names, patterns))
