"""Rules about `verifier/`: its description, its scripts, and whether its verdict can change."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from arena.packages.document import Document, DocumentError, parse_document
from arena.packages.findings import shown
from arena.packages.installs import Download, Install
from arena.packages.network import fetched_by_python, fetched_by_shell
from arena.packages.reading import DESCRIPTION, DOCKERFILE, TEST, PackageText
from arena.packages.reward import constant_in_python, constant_in_shell, writes_in_python
from arena.packages.rules.rule import Fault
from arena.packages.shell import ShellScript
from arena.packages.yamltext import KeyPath

STRATEGY_TYPES = ("script", "llm-judge", "reward-kit", "agent-judge", "ors-episode")
_NEEDS = {
    "llm-judge": ("rubric",),
    "reward-kit": ("root",),
    "agent-judge": ("role", "isolation", "inputs"),
    "ors-episode": ("inputs",),
}
_OWN_FILE = re.compile(r"(?:^|[=\"'\s])/?(?:(?:verifier|tests)/)((?:[\w.-]+/)*[\w.-]+\.\w+)$")
_WRITERS = frozenset({"cp", "mv", "tee", "touch", "cat", "ln"})
MAX_COMMAND = 10_000
MAX_CONFIRMED = 50
"""Scripts of a package for which a process is started to be sure that they are invalid."""

Problem = tuple[str, KeyPath]


def description_is_right(package: PackageText) -> Iterator[Fault]:
    text = package.text(DESCRIPTION)
    if not text:
        return
    hint = "Declare verifier.strategies.<name> with type: script and its command."
    try:
        document = parse_document(text)
    except DocumentError as exc:
        yield Fault(exc.message, DESCRIPTION, hint, exc.line)
        return
    for message, path in _description_problems(document, package):
        yield Fault(message, DESCRIPTION, hint, document.line_of(path))


def _description_problems(document: Document, package: PackageText) -> Iterator[Problem]:
    verifier = document.front_matter.get("verifier")
    strategies = verifier.get("strategies") if isinstance(verifier, dict) else None
    if not isinstance(verifier, dict) or not isinstance(strategies, dict) or not strategies:
        yield "verifier.strategies is missing", ("verifier",)
        return
    yield from _rubric_problems(verifier.get("rubric"))
    name = verifier.get("default_strategy")
    if not isinstance(name, str) or name not in strategies:
        yield f"default_strategy {shown(name)} is not declared", ("verifier", "default_strategy")
        return
    yield from _strategy_problems(strategies[name], ("verifier", "strategies", name), package)


def _strategy_problems(strategy: Any, path: KeyPath, package: PackageText) -> Iterator[Problem]:
    kind = strategy.get("type") if isinstance(strategy, dict) else None
    if kind not in STRATEGY_TYPES:
        yield f"the strategy's type {shown(kind)} is none of {', '.join(STRATEGY_TYPES)}", path
    elif kind != "script":
        missing = [key for key in _NEEDS[kind] if key not in strategy]
        lacks = f" (and it lacks {', '.join(missing)})" if missing else ""
        yield f"the strategy's type {kind} is not run here yet; script is{lacks}", path
    else:
        command = strategy.get("command")
        if not isinstance(command, str) or not command.strip():
            yield "the strategy has no command", path
        elif problem := _command_problem(command, set(package.sizes)):
            yield problem, (*path, "command")


def _rubric_problems(rubric: Any) -> Iterator[Problem]:
    """`verifier.rubric.dimensions` have weights that are numbers, none below 0."""
    dimensions = rubric.get("dimensions") if isinstance(rubric, dict) else None
    pairs = dimensions.items() if isinstance(dimensions, dict) else enumerate(dimensions or ())
    if not isinstance(dimensions, dict | list | None):
        yield "rubric.dimensions is no list", ("verifier", "rubric", "dimensions")
        return
    for key, dimension in pairs:
        weight = dimension.get("weight") if isinstance(dimension, dict) else dimension
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not weight >= 0:
            found = f"the weight {shown(weight)} of rubric.dimensions is no number from 0 up"
            yield found, ("verifier", "rubric", "dimensions", key)


def _command_problem(command: str, files: set[str]) -> str | None:
    if len(command) > MAX_COMMAND:
        return f"the command {shown(command)} has more than {MAX_COMMAND:,} characters"
    try:
        words = shlex.split(command)
    except ValueError as exc:
        return f"the command {shown(command)} cannot be read: {exc}"
    for word in words:
        own = re.sub(r"^/?(verifier|tests)/", "verifier/", word.removeprefix("./"))
        if own.startswith("verifier/") and own not in files:
            return f"the command names {shown(word)}, which is not in verifier/"
    return None


def reward_can_change(package: PackageText) -> Iterator[Fault]:
    hint = "Write the reward that the checks gave: 1 where all passed, else 0."
    scripts = {p: s for p, s in package.shell_scripts.items() if p.startswith("verifier/")}
    python = {p: f for p, f in package.python_files.items() if p.startswith("verifier/")}
    written_in_python = any(map(writes_in_python, python.values()))
    found = constant_in_shell(scripts[TEST]) if TEST in scripts else None
    if found and not written_in_python:
        message = f"the reward is always {found.value}, whatever the agent did"
        yield Fault(message, TEST, hint, found.line)
    for path, file in python.items():
        if found := constant_in_python(file):
            message = f"the reward is always {found.value}, whatever the agent did"
            yield Fault(message, path, hint, found.line)


def tests_assert_something(package: PackageText) -> Iterator[Fault]:
    for path, file in package.python_files.items():
        if not path.startswith("verifier/"):
            continue
        for node in file.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_empty_test(node):
                hint = "Compare what the agent left with what is right, or take the test out."
                yield Fault(f"the test {node.name[:80]} asserts nothing", path, hint, node.lineno)


def _is_empty_test(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A test whose body can neither fail nor call anything that does."""
    return node.name.startswith("test") and all(map(_does_nothing, node.body))


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    if isinstance(statement, ast.Return | ast.Expr):
        return statement.value is None or isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant) and bool(statement.test.value)
    if isinstance(statement, ast.Assign):
        return isinstance(statement.value, ast.Constant)
    return False


def shell_is_valid(package: PackageText) -> Iterator[Fault]:
    doubtful = 0
    for path, script in package.shell_scripts.items():
        if "\r\n" in script.text or not script.is_doubtful:
            continue  # line ends are a fault of their own
        doubtful += 1
        if doubtful > MAX_CONFIRMED:
            hint = f"Mend them; `bash -n {path}` shows what is wrong."
            yield Fault("more scripts that can't be read than are looked into", path, hint)
            return
        if problem := script.problem():
            hint = f"Mend it; `bash -n {path}` shows the same."
            yield Fault(f"not valid shell: {problem.message}", path, hint, problem.line)


def python_is_valid(package: PackageText) -> Iterator[Fault]:
    for path, file in package.python_files.items():
        if problem := file.problem():
            hint = f"Mend it; `python3 -m py_compile {path}` shows the same."
            yield Fault(f"not valid Python: {problem.message}", path, hint, problem.line)


def named_files_exist(package: PackageText) -> Iterator[Fault]:
    script = package.shell_scripts.get(TEST)
    if script is None:
        return
    written = _written_by(script)
    for command in script.commands:
        if command.name in _WRITERS:
            continue
        for word in command.words[1:]:
            match = _OWN_FILE.search(word.partition("::")[0])
            if match is None or f"verifier/{match[1]}" in package.sizes:
                continue
            if f"{match[1]}\n" not in written:
                hint = "Add the file, or mend its name."
                message = f"{command.name[:40]} is given {shown(word)}, which is not in verifier/"
                yield Fault(message, TEST, hint, command.line)


def _written_by(script: ShellScript) -> str:
    """What a script may write, as lines: one text is searched faster than thousands."""
    written = [redirect.target for redirect in script.redirects]
    written += [w for c in script.commands if c.name in _WRITERS for w in c.words[1:]]
    return "\n".join(written) + "\n"


def verifier_needs_no_network(package: PackageText) -> Iterator[Fault]:
    yield from network_faults(package, "verifier/", "while the verifier runs")


def network_faults(package: PackageText, folder: str, when: str) -> Iterator[Fault]:
    """What scripts below `folder` fetch though the package has no network."""
    if package.front_matter is None or package.front_matter.environment.has_network:
        return
    image = _Image.of(package)
    for path, found in _fetched(package, folder):
        if image.has(found):
            continue
        hint = f"Install it in {DOCKERFILE}, or put the data into the package."
        message = f"{shown(found.what)} needs the network, and there is none {when}"
        yield Fault(message, path, hint, found.line)


def _fetched(package: PackageText, folder: str) -> Iterator[tuple[str, Install | Download]]:
    for path, script in package.shell_scripts.items():
        if path.startswith(folder):
            yield from ((path, found) for found in fetched_by_shell(script))
    for path, file in package.python_files.items():
        if path.startswith(folder):
            yield from ((path, found) for found in fetched_by_python(file))


class _Image(NamedTuple):
    """What the Dockerfile installs: tools and names, and the text of all its instructions."""

    tools: frozenset[str]
    names: frozenset[str]
    text: str

    @classmethod
    def of(cls, package: PackageText) -> _Image:
        installed = [install for _, install in package.image_installs]
        instructions = package.dockerfile.instructions if package.dockerfile else []
        return cls(
            frozenset(install.tool for install in installed),
            frozenset(_bare(name) for install in installed for name in install.names),
            " ".join(instruction.value for instruction in instructions),
        )

    def has(self, found: Install | Download) -> bool:
        """Whether the same is installed: by the same tool, each name, whatever version."""
        if isinstance(found, Install):
            wanted = {_bare(name) for name in found.names}
            if not wanted and not found.files:  # `apt-get update` by itself
                return found.tool in self.tools
            files = (file.rpartition("/")[2] for file in found.files)
            return wanted <= self.names and all(file in self.text for file in files)
        words = found.what.split()
        return words[0] in {"uv", "uvx", "npx"} and " ".join(words[:2]) in self.text


def _bare(name: str) -> str:
    return re.split(r"[=<>~!\[@;]", name, maxsplit=1)[0].lower().replace("_", "-")
