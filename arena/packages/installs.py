"""What shell commands install or download: the one reading of it, for images and for verifiers."""

from __future__ import annotations

import ipaddress
import re
import shlex
from collections.abc import Iterator
from itertools import dropwhile
from typing import NamedTuple
from urllib.parse import urlsplit

from arena.packages.shell import Command, ShellScript

_WRAPPERS = frozenset(
    {"sudo", "env", "timeout", "nice", "nohup", "exec", "command", "time", "xvfb-run", "stdbuf"}
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
_LOCAL_SUFFIXES = (".local", ".internal", ".localhost", ".test")
MAX_DEPTH = 3


class Install(NamedTuple):
    """Packages that one command installs from an index: tool, names, requirement files, line."""

    tool: str
    names: tuple[str, ...]
    files: tuple[str, ...]
    line: int
    what: str


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
    for words, line in _commands(script):
        if _is_download(words):
            yield Download(" ".join(words)[:80], line)


def is_remote(address: str) -> bool:
    """Whether an address is of another host for certain; a `$variable` is not."""
    scheme, _, rest = address.partition("://")
    if not rest or scheme.lower() == "file" or rest.startswith("$"):
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
        words = _unwrapped(command)
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
        if words and words[0] in _WRAPPERS:
            words = _after_wrapper(words[1:])
        elif len(words) > 2 and re.fullmatch(r"python[\d.]*", words[0]) and words[1] == "-m":
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
    if re.fullmatch(r"pip[\d.]*", name) and "install" in rest:
        if "--no-index" in rest or ("--no-deps" in rest and "-e" in rest):
            return None
        names, files = _arguments(rest[rest.index("install") + 1 :], "pip", {"-r", "--requirement"})
        wanted = tuple(n for n in names if not n.startswith((".", "/", "$")))
        return Install("pip", wanted, files, line, what) if wanted or files else None
    if name in {"apt", "apt-get", "aptitude", "yum", "dnf", "microdnf", "apk"}:
        verb = "add" if name == "apk" else "install"
        if verb in rest:
            tool = "apk" if name == "apk" else "apt"
            names, _ = _arguments(rest[rest.index(verb) + 1 :], tool, set())
            return Install("apt", names, (), line, what)
        return Install("apt", (), (), line, what) if {"update", "upgrade"} & set(rest) else None
    if name in {"npm", "pnpm", "yarn"} and {"install", "i", "add"} & set(rest):
        verb = next(w for w in rest if w in {"install", "i", "add"})
        names, _ = _arguments(rest[rest.index(verb) + 1 :], "npm", set())
        return Install("npm", names, (), line, what)
    return None


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
        return not {"--offline", "--no-install"} & set(rest)
    if name == "uv":
        return (
            plain[:1] != []
            and plain[0] in {"run", "tool", "sync", "add"}
            and "--offline" not in rest
        )
    if name in {"curl", "wget", "aria2c"}:
        return any(is_remote(_with_scheme(word)) for word in plain)
    if name == "git":
        verb = next((w for w in plain if w in {"clone", "fetch", "pull"}), None)
        return verb is not None and (verb != "clone" or any(map(_is_git_remote, plain)))
    if name in {"hf", "huggingface-cli"}:
        return "download" in plain
    if name == "npm":
        return plain[:1] == ["ci"] and "--offline" not in rest
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
