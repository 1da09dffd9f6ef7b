"""What a failed build said: whose fault it is, and a log that reads well."""

from __future__ import annotations

import re

from arena.sandbox.errors import BuildError, EngineError, RegistryTrouble
from arena.sandbox.registries import is_docker_hubs, is_made_up, told_of

MAX_CHARACTERS = 4000

# What BuildKit puts before its own reason, of its versions in turn.
_PREAMBLE = re.compile(
    r"(?:ERROR: |failed to (?:build|solve)(?: with frontend [\w.]+)?: "
    r"|failed to create LLB definition: |rpc error: code = \w+ desc = )*"
)
# These come first: they quote what the author wrote, which may look like trouble.
_THE_AUTHORS = re.compile(r"dockerfile parse error|.*(?:exit code: \d+|: not found)$", re.I | re.S)
# What the engine says when a registry, the network or the disk failed, not the Dockerfile.
_NOT_THE_AUTHORS = re.compile(
    r"toomanyrequests|too many requests|i/o timeout|handshake timeout|no such host|dial tcp"
    r"|connection (refused|reset)|deadline exceeded|Client\.Timeout|\bEOF$"
    r"|50[0-9] (internal|bad|service|gateway)|response status (429|50[0-9])|server misbehaving"
    r"|no space left on device|input/output error"
    r"|network \S+ not found|cannot connect to the docker daemon|error during connect"
    r"|transport is closing|code = Unavailable|context canceled",
    re.IGNORECASE,
)
# What these words begin is about the engine, whatever address they name.
_THE_ENGINES = re.compile(r"cannot connect to the docker daemon|error during connect", re.I)
_STATUS = re.compile(r"invalid response status \d+")  # of an ADD: BuildKit names no address then
# "#5 0.123 hello" is what step 5 said after 0.123 s, "#5 DONE 0.2s" what BuildKit says of the step.
_SAID = re.compile(r"#\d+ (\d+\.\d+ )?(.*)", re.S)
_NOISE = re.compile(
    r"sha256:[0-9a-f]{64}|(DONE|CACHED)\b.*|\[internal\] .*|copy /context /|transferring .*", re.S
)


def failure(
    package: str, log: str, registries: frozenset[str] = frozenset()
) -> BuildError | EngineError:
    """What the log of a failed build comes to: the author's to mend, or the platform's trouble.

    `registries`: what the author named beside Docker Hub; trouble with one of those may be either.
    Their answers are quoted in the log, so nothing in those can make it the platform's.
    """
    last = _last_word(log)
    why = _PREAMBLE.sub("", last, count=1)
    hosts = told_of(why)
    if _THE_AUTHORS.match(why) or not _NOT_THE_AUTHORS.search(last):
        return BuildError(package, why, readable(log))
    trouble = f"the build of {package} met trouble: {why}"
    fetched = bool(hosts or _STATUS.search(why)) and not _THE_ENGINES.match(why)
    if not registries or not fetched or any(map(is_docker_hubs, hosts)):
        return EngineError(trouble)
    if any(map(is_made_up, hosts)):
        return BuildError(package, why, readable(log))
    return RegistryTrouble(trouble, registries, readable(log))


def readable(log: str) -> str:
    """The end of a build's log without BuildKit's numbers, times and own affairs."""
    kept = []
    for line in log.split("\n"):
        said = _SAID.fullmatch(line)
        text = said[2] if said else line
        if text.strip() and not (said and said[1] is None and _NOISE.fullmatch(text)):
            kept.append(text)
    return "\n".join(kept)[-MAX_CHARACTERS:]


def _last_word(log: str) -> str:
    """The command's own last word; what steps wrote always has a number before it."""
    lines = [line for line in log.split("\n") if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or ["it says nothing"])[-1].strip()
