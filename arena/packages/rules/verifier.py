"""Rules about `verifier/`: its description, its scripts, and whether its verdict can change."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from arena.packages.agentcode import (
    Ran,
    import_from_agent,
    run_by_python,
    run_by_shell,
)
from arena.packages.document import Document, DocumentError, parse_document
from arena.packages.emptytests import empty_tests
from arena.packages.findings import shown
from arena.packages.installs import Download, Install
from arena.packages.network import fetched_by_python, fetched_by_shell
from arena.packages.reading import DESCRIPTION, DOCKERFILE, TEST, PackageText
from arena.packages.reward import always_runs, constant_in_python, constant_in_shell
from arena.packages.rules.environment import requirements
from arena.packages.rules.rule import Fault
from arena.packages.shell import ShellScript
from arena.packages.unruntests import unrun_tests
from arena.packages.yamltext import KeyPath

STRATEGY_TYPES = ("script", "llm-judge", "reward-kit", "agent-judge", "ors-episode")
_NEEDS = {
    "llm-judge": ("rubric",),
    "reward-kit": ("root",),
    "agent-judge": ("role", "isolation", "inputs"),
    "ors-episode": ("inputs",),
}
_OWN_FILE = re.compile(r"/(?:verifier|tests)/((?:[\w.-]+/)*[\w.-]+\.\w+)")
_LOOKED_FOR = re.compile(r"-[efrsx]\s{1,9}[\"']?/(?:verifier|tests)/([\w./-]+)")
_WRITING_FLAG = re.compile(r"-[a-z]*[oO]|--(?!no-)[a-z-]+")
"""A flag after which a file may be written; `python3 -u` and `pytest -q` have none."""
_WRITERS = frozenset({"cp", "mv", "tee", "touch", "cat", "ln"})
_TALKERS = frozenset(
    {"echo", "printf", "rm", "mkdir", "ls", "find", "test", "[", "chmod", "export"}
)
MAX_COMMAND = 10_000
MAX_CONFIRMED = 50
"""Scripts of a package for which a process is started to be sure that they are invalid."""

_DECLARE = (
    "Declare it: `strategies: {main: {type: script, command: sh /verifier/test.sh}}` and "
    "`default_strategy: main`, both under `verifier:`."
)

_AS_NOBODY = (
    "Run it as another user: `su -s /bin/sh nobody -c '…'`, or "
    "`setpriv --reuid=65534 --regid=65534 --clear-groups …`."
)
_BY_PYTHON = (
    "Run it as another user: `subprocess.run(…, user=65534, group=65534, extra_groups=[])`."
)
_WEIGHT = "Give each dimension a weight from 0 up, for example `style: {weight: 0.5}`."


class Problem(NamedTuple):
    """What is wrong with verifier.md, at which key, and how to mend it."""

    message: str
    path: KeyPath
    hint: str = _DECLARE


def description_is_right(package: PackageText) -> Iterator[Fault]:
    text = package.text(DESCRIPTION)
    if not text:
        return
    try:
        document = parse_document(text)
    except DocumentError as exc:
        yield Fault(exc.message, DESCRIPTION, exc.hint, exc.line)
        return
    for message, path, hint in _description_problems(document, package):
        yield Fault(message, DESCRIPTION, hint, document.line_of(path))


def _description_problems(document: Document, package: PackageText) -> Iterator[Problem]:
    verifier = document.front_matter.get("verifier")
    strategies = verifier.get("strategies") if isinstance(verifier, dict) else None
    if not isinstance(verifier, dict) or not isinstance(strategies, dict) or not strategies:
        yield Problem("verifier.strategies is missing", ("verifier",))
        return
    yield from _rubric_problems(verifier.get("rubric"))
    name = verifier.get("default_strategy")
    if not isinstance(name, str) or name not in strategies:
        declared = ", ".join(map(str, strategies))[:80]
        message = f"default_strategy {shown(name)} is not declared; declared: {declared}"
        yield Problem(message, ("verifier", "default_strategy"))
        return
    yield from _strategy_problems(strategies[name], ("verifier", "strategies", name), package)


def _strategy_problems(strategy: Any, path: KeyPath, package: PackageText) -> Iterator[Problem]:
    kind = strategy.get("type") if isinstance(strategy, dict) else None
    if kind not in STRATEGY_TYPES:
        known = ", ".join(STRATEGY_TYPES)
        yield Problem(f"the strategy's type {shown(kind)} is none of {known}", path)
    elif kind != "script":
        missing = [key for key in _NEEDS[kind] if key not in strategy]
        lacks = f" (and it lacks {', '.join(missing)})" if missing else ""
        yield Problem(f"the strategy's type {kind} is not run here yet; script is{lacks}", path)
    else:
        command = strategy.get("command")
        if not isinstance(command, str) or not command.strip():
            yield Problem("the strategy has no command", path)
        elif problem := _command_problem(command, set(package.sizes)):
            hint = "Add the file to verifier/, or mend the command; /verifier/test.sh is there."
            yield Problem(problem, (*path, "command"), hint)


def _rubric_problems(rubric: Any) -> Iterator[Problem]:
    """`verifier.rubric.dimensions` have weights that are numbers, none below 0."""
    dimensions = rubric.get("dimensions") if isinstance(rubric, dict) else None
    pairs = dimensions.items() if isinstance(dimensions, dict) else enumerate(dimensions or ())
    if not isinstance(dimensions, dict | list | None):
        found = f"rubric.dimensions is {shown(dimensions)}, and a list or a mapping is meant"
        yield Problem(found, ("verifier", "rubric", "dimensions"), _WEIGHT)
        return
    for key, dimension in pairs:
        weight = dimension.get("weight") if isinstance(dimension, dict) else dimension
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not weight >= 0:
            found = f"the weight {shown(weight)} of rubric.dimensions is no number from 0 up"
            yield Problem(found, ("verifier", "rubric", "dimensions", key), _WEIGHT)


def _command_problem(command: str, files: set[str]) -> str | None:
    if len(command) > MAX_COMMAND:
        return f"the command {shown(command)} has more than {MAX_COMMAND:,} characters"
    try:
        words = shlex.split(command)
    except ValueError as exc:
        return f"the command {shown(command)} cannot be read: {exc}"
    folders = {path[:end] for path in files for end in _ends_of_folders(path)}
    for word in words:
        path = word.partition("::")[0].removeprefix("./").rstrip("/")
        own = re.sub(r"^/?(verifier|tests)(?=/|$)", "verifier", path)
        if own.startswith("verifier/") and own not in files | folders:
            return f"the command names {shown(word)}, which is not in verifier/"
    return None


def _ends_of_folders(path: str) -> Iterator[int]:
    return (match.start() for match in re.finditer("/", path))


def reward_can_change(package: PackageText) -> Iterator[Fault]:
    script = package.shell_scripts.get(TEST)
    found = {TEST: constant_in_shell(script)} if script else {}
    for path, file in package.python_files.items():
        if path.startswith("verifier/") and script and always_runs(script, path):
            found[path] = constant_in_python(file)
    for path, constant in found.items():
        if constant:
            hint = "Write the reward that the checks gave: 1 where all passed, else 0."
            message = f"the reward is always {constant.value}, whatever the agent did"
            yield Fault(message, path, hint, constant.line)


def tests_assert_something(package: PackageText) -> Iterator[Fault]:
    yield from _tests_are_run(package)
    for path, file in package.python_files.items():
        if not path.startswith("verifier/") or not _is_test_file(package, path):
            continue
        for test in empty_tests(file):
            hint = "Compare what the agent left with what is right, or take the test out."
            yield Fault(f"the test {test.name[:80]} asserts nothing", path, hint, test.line)


def _tests_are_run(package: PackageText) -> Iterator[Fault]:
    script = package.shell_scripts.get(TEST)
    files = {p: f for p, f in package.python_files.items() if p.startswith("verifier/")}
    for found in unrun_tests(script, files) if script else ():
        hint = (
            f"Make them methods of a unittest.TestCase and end {found.path} with "
            "`unittest.main()`, or have pytest in the image and start `python3 -m pytest`."
        )
        tests = f"{found.tests} tests" if found.tests > 1 else "1 test"
        message = f"Python runs {shown(found.started)}, which defines {tests} and runs none"
        yield Fault(message, TEST, hint, found.line)


def _is_test_file(package: PackageText, path: str) -> bool:
    """Whether a runner would look for tests in it: by its name, or because a script names it."""
    name = posixpath.basename(path)
    if re.fullmatch(r"test.*\.py|.*_test\.py", name):
        return True
    return any(name in script.text for script in package.shell_scripts.values())


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
    known = _made_or_asked_for(script) | {path.removeprefix("verifier/") for path in package.sizes}
    for command in script.commands:
        if command.name in _WRITERS | _TALKERS:
            continue
        for before, word in pairwise(("", *command.words)):
            match = _OWN_FILE.fullmatch(word.partition("::")[0])
            if match and not _WRITING_FLAG.match(before) and match[1] not in known:
                hint = f"Add verifier/{match[1][:80]}, or mend its name."
                message = f"{command.name[:40]} is given {shown(word)}, which is not in verifier/"
                yield Fault(message, TEST, hint, command.line)


def _made_or_asked_for(script: ShellScript) -> set[str]:
    """The files of verifier/ that a script writes itself, or looks whether they exist."""
    words = [r.target for r in script.redirects]
    for command in script.commands:
        pairs = pairwise(("", *command.words))
        writes = command.name in _WRITERS
        words += [word for before, word in pairs if writes or _WRITING_FLAG.match(before)]
    found = {match[1] for word in words if (match := _OWN_FILE.fullmatch(word))}
    return found | set(_LOOKED_FOR.findall(script.text))


def verifier_needs_no_network(package: PackageText) -> Iterator[Fault]:
    yield from network_faults(package, "verifier/", "while the verifier runs")


def agents_programs_run_as_others(package: PackageText) -> Iterator[Fault]:
    agents = package.agents_folders
    for path, script in package.shell_scripts.items():
        if path.startswith("verifier/"):
            known = agents if path == TEST else agents._replace(start=None)
            for ran in run_by_shell(script, known):
                yield _as_root(path, ran, _AS_NOBODY)
    for path, file in package.python_files.items():
        if path.startswith("verifier/"):
            for ran in run_by_python(file, agents):
                yield _as_root(path, ran, _BY_PYTHON)


def _as_root(path: str, ran: Ran, hint: str) -> Fault:
    message = f"{shown(ran.what)} is the agent's, and root, as whom it runs, may write the reward"
    return Fault(message, path, hint, ran.line)


def python_imports_its_own(package: PackageText) -> Iterator[Fault]:
    script = package.shell_scripts.get(TEST)
    for ran in import_from_agent(script, package.agents_folders) if script else ():
        hint = (
            "Put the tests into verifier/ and run them there, "
            "`cd /verifier && python3 -m pytest .`, or leave the folder out: `python3 -I -m …`."
        )
        message = f"{shown(ran.what)} finds the agent's files before any others"
        yield Fault(message, TEST, hint, ran.line)


def network_faults(package: PackageText, folder: str, when: str) -> Iterator[Fault]:
    """What scripts below `folder` fetch though the package has no network."""
    if package.has_network is not False:
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
        files = {file for install in installed for file in install.files}
        required = {_bare(text) for _, _, text in requirements(package, files)}
        instructions = package.dockerfile.instructions if package.dockerfile else []
        return cls(
            frozenset(install.tool for install in installed),
            frozenset(_bare(name) for install in installed for name in install.names) | required,
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
