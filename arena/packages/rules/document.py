"""Rules about `task.md`: its front matter and its prompt."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from itertools import islice

from arena.packages.findings import shown
from arena.packages.keymessages import key_message
from arena.packages.licences import LicenceError, check_licence
from arena.packages.placeholders import MARKER, is_placeholder, placeholder_line
from arena.packages.pythontext import PythonFile
from arena.packages.reading import DESCRIPTION, ORACLE, TASK, TEST, PackageText
from arena.packages.rules.rule import Fault
from arena.packages.schema import MAX_LICENCE, TOP_LEVEL_KEYS
from arena.packages.yamltext import KeyPath

_MARKED_LINE = re.compile(rf"^{MARKER}\b", re.M)
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,63}\b")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_COMPARING = frozenset({"assertEqual", "assertAlmostEqual", "isclose", "approx"})
MIN_DIGITS = 5
"""A shorter number is mostly a port, a size or a year, which the prompt has to give."""

MIN_ANSWER = 16
MAX_TELLING = 1e100
MAX_CONSTANTS = 1_000


def front_matter_parses(package: PackageText) -> Iterator[Fault]:
    if problem := package.task_problem:
        yield Fault(problem.message, TASK, problem.hint, problem.line)


def keys_are_right(package: PackageText) -> Iterator[Fault]:
    for problem in package.key_problems:
        if isinstance(problem["input"], str) and MARKER in problem["input"]:
            continue  # a placeholder, which is a fault of its own
        path = tuple(part for part in problem["loc"] if isinstance(part, str | int))
        message, hint = key_message(problem, path)
        yield Fault(message, TASK, hint, package.task.line_of(path) if package.task else None)


def there_is_a_prompt(package: PackageText) -> Iterator[Fault]:
    if package.task and not package.prompt:
        hint = "Write what the agent is to do under a heading '## prompt'."
        yield Fault("there is no prompt", TASK, hint, package.task.body_line)


def top_level_keys_are_known(package: PackageText) -> Iterator[Fault]:
    for key in package.task.front_matter if package.task else ():
        if key not in TOP_LEVEL_KEYS:
            near = difflib.get_close_matches(key[:80], TOP_LEVEL_KEYS, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(TOP_LEVEL_KEYS)}."
            line = package.task.line_of((key,)) if package.task else None
            yield Fault(f"the top-level key {shown(key)} is not known", TASK, hint, line)


def metadata_has_no_email(package: PackageText) -> Iterator[Fault]:
    for path, value in _metadata(package):
        if isinstance(value, str) and (match := _EMAIL.search(value)):
            name = match[0]
            hint = "Leave it out: what is accepted becomes public. author_hub is enough."
            line = package.task.line_of(path) if package.task else None
            yield Fault(f"{'.'.join(map(str, path))} holds the address {name}", TASK, hint, line)


def origin_is_given(package: PackageText) -> Iterator[Fault]:
    if package.task and package.stated("metadata", "origin") is None:
        hint = "Write `origin: original`, `adapted` (with origin_url) or `generated`."
        line = package.task.line_of(("metadata",)) if package.task else None
        yield Fault("metadata.origin is missing", TASK, hint, line)


def licence_is_given(package: PackageText) -> Iterator[Fault]:
    if package.alone and package.task and package.stated("metadata", "license") is None:
        hint = "Write `license: Apache-2.0` (or another SPDX id), or give the collection one."
        line = package.task.line_of(("metadata",)) if package.task else None
        yield Fault("metadata.license is missing", TASK, hint, line)


def licence_is_spdx(package: PackageText) -> Iterator[Fault]:
    yield from _licence(package, forbids=False)


def licence_allows_release(package: PackageText) -> Iterator[Fault]:
    yield from _licence(package, forbids=True)


def licence_fault(text: str, file: str, line: int | None, forbids: bool) -> Iterator[Fault]:
    """The fault of a licence, of one of the two kinds, wherever it stands."""
    try:
        check_licence(text)
    except LicenceError as exc:
        if exc.forbids == forbids:
            hint = "Choose one under which it may be released, such as Apache-2.0 or CC-BY-4.0."
            if not forbids:
                hint = "Use an id of https://spdx.org/licenses/, such as Apache-2.0 or CC-BY-4.0."
            yield Fault(f"the licence {exc.message}", file, hint, line)


def _licence(package: PackageText, forbids: bool) -> Iterator[Fault]:
    text = package.stated("metadata", "license")
    if isinstance(text, str) and 1 <= len(text) <= MAX_LICENCE:
        line = package.task.line_of(("metadata", "license")) if package.task else None
        yield from licence_fault(text, TASK, line, forbids)


def template_is_filled_in(package: PackageText) -> Iterator[Fault]:
    for path, value in _metadata(package):
        if isinstance(value, str) and is_placeholder(value):
            line = package.task.line_of(path) if package.task else None
            yield _placeholder(".".join(map(str, path)), shown(value), TASK, line)
    if package.task and (found := placeholder_line(package.prompt)):
        yield _placeholder("the prompt", shown(found[1]), TASK, _prompt_line(package, found[0]))
    rubrics = [file for file in package.below("verifier/rubrics") if file.endswith(".md")]
    for file in [DESCRIPTION, *rubrics]:
        if found := placeholder_line(package.text(file) or ""):
            yield _placeholder(file, shown(found[1]), file, found[0])
    for file in [TEST, ORACLE, *package.python_files]:
        if MARKER in (package.text(file) or ""):
            line = _line_of(package.text(file), MARKER)
            yield _placeholder(file, shown(MARKER), file, line)
    for file, text in package.small_texts():
        if not file.startswith("environment/") or MARKER not in text:
            continue
        if match := _MARKED_LINE.search(text):
            yield _placeholder(file, shown(MARKER), file, _line_of(text, match[0]))


def _placeholder(what: str, found: str, file: str, line: int | None) -> Fault:
    return Fault(
        f"{what} still holds the placeholder {found}",
        file,
        "Write your own there; nothing of the template may stay.",
        line,
    )


def _body_line_of(package: PackageText, part: str) -> int | None:
    """The line of task.md at which a part of its body stands."""
    if package.task is None:
        return None
    above = package.task.body_line - 1
    lines = (package.text(TASK) or "").replace("\r\n", "\n").split("\n")
    return above + _line_of("\n".join(lines[above:]), part)


def _prompt_line(package: PackageText, number: int) -> int | None:
    """The line of task.md at which a line of the prompt stands."""
    first = _body_line_of(package, package.prompt)
    return None if first is None else first + number - 1


def _line_of(text: str | None, part: str) -> int:
    return (text or "").partition(part)[0].count("\n") + 1


def prompt_hides_the_answer(package: PackageText) -> Iterator[Fault]:
    if package.task is None:
        return
    prompt = package.prompt
    numbers = set(_NUMBER.findall(prompt))
    for path, file in package.python_files.items():
        if not path.startswith("verifier/") or file.tree is None:
            continue
        for value in islice(_compared_constants(file), MAX_CONSTANTS):
            given = value in numbers if _NUMBER.fullmatch(value) else value in prompt
            if given:
                hint = (
                    "Let the agent find it out: say what is wanted, not what it comes to. "
                    "Where it is an input, leave it be."
                )
                line = _body_line_of(package, value)
                yield Fault(
                    f"the prompt gives away {shown(value)}, which {path} expects", TASK, hint, line
                )


def _compared_constants(file: PythonFile) -> Iterator[str]:
    """The constants that checks expect: long numbers, and texts that are no paths or names."""
    for node in file.nodes:
        compared: list[ast.expr] = []
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.Eq) for op in node.ops):
            compared = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _COMPARING:
            compared = node.args[:2]
        for part in compared:
            if isinstance(part, ast.Constant):
                yield from _telling(part.value)


def _telling(value: object) -> Iterator[str]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) > MAX_TELLING:
            return  # Python refuses to write a number of thousands of digits
        text = str(value)
        if len(text.replace(".", "").strip("-0")) >= MIN_DIGITS:
            yield text
    elif isinstance(value, str) and len(value) >= MIN_ANSWER and " " in value.strip():
        yield value


def _metadata(package: PackageText) -> Iterator[tuple[KeyPath, object]]:
    """The values below metadata, lists included, with where they stand."""
    pending: list[tuple[KeyPath, object]] = []
    if package.task:
        pending.append((("metadata",), package.task.front_matter.get("metadata")))
    while pending:
        path, value = pending.pop(0)
        if isinstance(value, dict):
            pending += [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            pending += [((*path, index), item) for index, item in enumerate(value)]
        else:
            yield path, value
