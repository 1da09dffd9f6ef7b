"""What shell commands install or download: the one reading of it, for images and for verifiers."""

from __future__ import annotations

import ipaddress
import re
import shlex
from collections.abc import Iterator
from itertools import dropwhile, pairwise
from typing import NamedTuple
from urllib.parse import urlsplit

from arena.packages.shell import Command, ShellScript, is_python

_WRAPPERS = frozenset(
    {
        "sudo",
        "env",
        "timeout",
        "nice",
        "nohup",
        "exec",
        "command",
        "time",
        "xvfb-run",
        "stdbuf",
        "xargs",
    }
)
_VALUE_FLAGS = {
    "pip": {"-i", "--index-url", "--extra-index-url", "-c", "--constraint", "-t", "--target",
            "--prefix", "--root", "--python", "-p", "--python-version", "--platform",
            "--trusted-host", "--timeout", "--retries", "-f", "--find-links", "--progress-bar"},
    "apt": {"-o", "-t", "-c", "--option", "--target-release"},
    "npm": {"--prefix", "--registry", "--cache"},
    "apk": {"-X", "--repository", "-p", "-t", "--virtual"},
}  # fmt: skip
_CLOUD = {"aws": "s3", "gsutil": "cp", "gcloud": "storage", "az": "storage", "rclone": ""}
_VALUE_OF = {
    "curl": re.compile(
        r"-[a-zA-Z]*[HeAudFbxX]|--(?:header|referer|user-agent|user|data[a-z-]*|form[a-z-]*"
        r"|cookie|proxy|request|resolve|connect-to)"
    ),
    "wget": re.compile(r"-[eU]|--(?:header|referer|user-agent|post-data|body-data)"),
    "aria2c": re.compile(r"--(?:header|referer|user-agent|all-proxy)"),
}
"""Flags whose value is no address to be fetched, though it may look like one."""
_FETCHERS = {
    "conda": {"install", "create"}, "mamba": {"install", "create"}, "cargo": {"install"},
    "gem": {"install"}, "go": {"install", "get"}, "docker": {"pull"},
}  # fmt: skip
_LOCAL_SUFFIXES = (".local", ".internal", ".localhost", ".test")
MAX_DEPTH = 3


class Install(NamedTuple):
    """Packages that one command installs from an index: tool, names, requirement files, line.

    `is_constrained`: a file of constraints gives their versions.
    """

    tool: str
    names: tuple[str, ...]
    files: tuple[str, ...]
    line: int
    what: str
    is_constrained: bool = False


class Download(NamedTuple):
    """Something else that a command takes from the network: as it is written, and the line."""

    what: str
    line: int


def installs(script: ShellScript) -> Iterator[Install]:
    """What the commands of a script install."""
    for words, line in _commands(script):
        if found := _install(words, line):
            yield found


def downloads(script: ShellScript) -> Iterator[Download]:
    """What the commands of a script take from hosts that are not this machine or a service."""
    offline = re.search(r"UV_OFFLINE=[\"']?(?:1|true)", script.text)
    for words, line in _commands(script):
        if _is_download(words) and not (offline and words[0] in {"uv", "uvx"}):
            yield Download(" ".join(words)[:80], line)


def is_remote(address: str) -> bool:
    """Whether an address is of another host for certain; a `$variable` is not."""
    scheme, _, rest = address.partition("://")
    if not rest or not scheme.isalnum() or scheme.lower() == "file" or rest.startswith("$"):
        return False
    if scheme.lower() in {"s3", "gs", "hf", "az", "abfs"}:
        return True
    try:
        host = urlsplit(f"//{rest}").hostname or ""
    except ValueError:
        return False
    if "$" in host or "{" in host or not host:
        return False
    try:
        own = ipaddress.ip_address(host)
        return not (own.is_loopback or own.is_private or own.is_unspecified)
    except ValueError:
        return "." in host and not host.endswith(_LOCAL_SUFFIXES)


def _commands(script: ShellScript, depth: int = 0) -> Iterator[tuple[list[str], int]]:
    """The commands with what wraps them taken off, those in `sh -c '…'` included."""
    for command in script.commands:
        words = [script.expanded(word) for word in _unwrapped(command)]
        if not words:
            continue
        inner = _inner_script(words)
        if inner is not None and depth < MAX_DEPTH:
            for below, line in _commands(ShellScript(inner, script.allowance), depth + 1):
                yield below, command.line + line - 1
        else:
            yield words, command.line


def _inner_script(words: list[str]) -> str | None:
    """The text of `sh -c TEXT`; None for anything else."""
    if words[0] not in {"sh", "bash", "dash", "eval"}:
        return None
    if words[0] == "eval":
        return " ".join(words[1:])
    for index, word in enumerate(words[1:-1], 1):
        if re.fullmatch(r"-[a-z]*c", word):
            return words[index + 1]
    return None


def _unwrapped(command: Command) -> list[str]:
    words = [command.name, *command.words[1:]]
    for _ in range(8):
        if words[:1] == ["command"] and re.match("-[vV]", words[1] if len(words) > 1 else ""):
            return []  # it only asks where the program is
        if words and words[0] in _WRAPPERS:
            words = _after_wrapper(words[1:])
        elif len(words) > 2 and is_python(words[0]) and words[1] == "-m":
            words = words[2:]
        else:
            break
    if words:
        words[0] = words[0].rpartition("/")[2]
    return words


def _after_wrapper(words: list[str]) -> list[str]:
    """Leaves out a wrapper's own flags, its durations and assignments."""
    is_own = re.compile(r"-|\d+(\.\d+)?[smhd]?$|\w+=").match
    return list(dropwhile(is_own, words))


def _install(words: list[str], line: int) -> Install | None:
    name, rest = words[0], words[1:]
    what = " ".join(words)[:80]
    if name == "uv" and rest[:1] == ["pip"]:
        name, rest = "pip", rest[1:]
    if name == "uv" and rest[:2] == ["tool", "install"]:
        name, rest = "pip", rest[1:]
    if re.fullmatch(r"pip[\d.]*|pipx", name) and "install" in rest:
        return _pip_install(rest[rest.index("install") + 1 :], line, what)
    if name in {"apt", "apt-get", "aptitude", "yum", "dnf", "microdnf", "apk"}:
        verb = "add" if name == "apk" else "install"
        if verb in rest:
            tool = "apk" if name == "apk" else "apt"
            names, _ = _arguments(rest[rest.index(verb) + 1 :], tool, set())
            wanted = tuple(name for name in names if not name.startswith((".", "/")))
            return Install("apt", wanted, (), line, what) if wanted or not names else None
        return Install("apt", (), (), line, what) if {"update", "upgrade"} & set(rest) else None
    verb = next((word for word in rest if not word.startswith("-")), "")
    if name in {"npm", "pnpm", "yarn"} and verb in {"install", "i", "add"}:
        names, _ = _arguments(rest[rest.index(verb) + 1 :], "npm", set())
        wanted = tuple(name for name in names if not _is_local_npm(name))
        if "--offline" not in rest and (wanted or not names):
            return Install("npm", wanted, (), line, what)
    return None


def _pip_install(words: list[str], line: int, what: str) -> Install | None:
    if {"--no-index", "--offline"} & set(words) or ("--no-deps" in words and "-e" in words):
        return None
    names, files = _arguments(words, "pip", {"-r", "--requirement"})
    wanted = tuple(name for name in names if not _is_local_pip(name))
    constrained = any(re.match(r"-c$|--constraint(=|$)", word) for word in words)
    return Install("pip", wanted, files, line, what, constrained) if wanted or files else None


def _is_local_pip(name: str) -> bool:
    """pip takes what holds a `/` and is no address for a path, and what ends like a wheel."""
    return name.startswith((".", "$", "/")) or ("/" in name and not re.search("://|@", name))


def _is_local_npm(name: str) -> bool:
    return name.startswith((".", "/", "~", "$", "file:")) or name.endswith((".tgz", ".tar.gz"))


def _arguments(
    words: list[str], tool: str, file_flags: set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Positional words, and the values of `file_flags`."""
    names, files = list[str](), list[str]()
    pending = iter(words)
    for word in pending:
        if word in file_flags:
            files.append(next(pending, ""))
        elif word in _VALUE_FLAGS[tool]:
            next(pending, None)
        elif not word.startswith("-"):
            names.append(word)
    return tuple(names), tuple(files)


def _is_download(words: list[str]) -> bool:
    name, rest = words[0], words[1:]
    plain = [word for word in rest if not word.startswith("-")]
    if name in {"uvx", "npx", "pipx"}:
        return (
            bool(plain) and plain[0] != "install" and not {"--offline", "--no-install"} & set(rest)
        )
    if name == "uv":
        verbs = {"run", "tool", "sync", "add"}
        return (
            bool(verbs & set(plain[:1]))
            and plain[:2] != ["tool", "install"]
            and not {"--offline", "--no-sync"} & set(rest)
        )
    if name in _VALUE_OF:
        values = {value for flag, value in pairwise(rest) if _VALUE_OF[name].fullmatch(flag)}
        addresses = [word for word in plain if word not in values]
        addresses += [w.removeprefix("--url=") for w in rest if w.startswith("--url=")]
        return any(is_remote(_with_scheme(word)) for word in addresses)
    if name == "git":
        return bool({"clone", "fetch", "pull"} & set(plain)) and any(map(_is_git_remote, plain))
    if name in {"hf", "huggingface-cli"}:
        return "download" in plain
    if name == "npm":
        return plain[:1] == ["ci"] and "--offline" not in rest
    if name in _FETCHERS:
        return bool(_FETCHERS[name] & set(plain[:1])) and "--offline" not in rest
    if name in _CLOUD:
        return not _CLOUD[name] or _CLOUD[name] in plain
    return False


def _with_scheme(word: str) -> str:
    """curl and wget take `example.org/x` for an address."""
    if "://" in word:
        return word
    return (
        f"http://{word}"
        if re.match(r"[\w-]+(\.[\w-]+)*\.(com|org|net|io|co|dev|ai|sh)(/|$)", word)
        else word
    )


def _is_git_remote(word: str) -> bool:
    return is_remote(word) or bool(re.match(r"\w+@[\w.-]+\.\w+:", word))


def split_words(text: str) -> list[str]:
    """A command line as words; what no shell would read is split at blanks."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
