"""Settings of a container as lines of its Dockerfile, where every engine obeys them."""

from __future__ import annotations

import re
from typing import Any

from arena.packages.conversion.draft import DOCKERFILE, Draft
from arena.packages.conversion.fields import Image, Unfit, Withheld
from arena.packages.findings import shown

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOSTS = "its value comes from the host, and a task here gets nothing of the host's"
_DEFAULT = re.compile(r"\$\{\w+:-([^{}]*)\}")


def env_line(name: str, value: Any) -> str:
    """`ENV NAME="value"`; a `${VAR:-default}` of the host's becomes its default."""
    if not _NAME.fullmatch(name) or not isinstance(value, str | int | float):
        raise Unfit(f"{shown(name)} cannot stand in ENV")
    text = str(value).lower() if isinstance(value, bool) else str(value)
    text = _DEFAULT.sub(lambda match: match[1], text)
    if "${" in text:
        raise Withheld(_HOSTS)
    if not text.isprintable():
        raise Unfit("a value of several lines cannot stand in ENV")
    quoted = re.sub(r'([\\"$])', r"\\\1", text)
    return f'ENV {name}="{quoted}"'


def compose_env_line(name: str, value: Any) -> str:
    """The same from a compose file, where `$VAR` is the host's, too, and `$$` a dollar sign."""
    parts = str(value).split("$$")
    if any(re.search(r"\$\w", part) for part in parts):
        raise Withheld(_HOSTS)
    return env_line(name, value if isinstance(value, bool) else "$".join(parts))


def workdir_line(_name: str, value: Any) -> str:
    """`WORKDIR path`, for an absolute path."""
    if not isinstance(value, str) or not re.fullmatch(r"/[\w./-]*", value) or ".." in value:
        raise Unfit(f"{shown(value)} is no plain absolute path")
    return f"WORKDIR {value}"


_SEEN = "set in the image, so agent, oracle and verifier see it alike"
ENV = Image(env_line, _SEEN)
COMPOSE_ENV = Image(compose_env_line, _SEEN)
WORKDIR = Image(workdir_line, "set in the image")


def write_dockerfile(draft: Draft, path: str | None, base: str | None = None) -> None:
    """The package's Dockerfile: the source's at `path`, or `FROM base`, and the lines gathered."""
    if path is None or path not in draft.source.files:
        if base is not None and re.fullmatch(r"[\w./:@-]{1,255}", base):
            draft.write(DOCKERFILE, "\n".join([f"FROM {base}", *draft.image_lines]) + "\n")
        elif draft.image_lines:
            lines = "; ".join(draft.image_lines)
            draft.todo(f"{DOCKERFILE} is missing: write it, with these lines in it: {lines}")
    elif not draft.image_lines:
        draft.copy(path, DOCKERFILE)
    else:
        text = draft.source.text(path)
        if text.rstrip().endswith("\\"):
            raise draft.source.refused(f"{path} ends inside an instruction")
        added = "".join(f"{line}\n" for line in draft.image_lines)
        draft.write(DOCKERFILE, text + ("" if text.endswith("\n") else "\n") + added)
        draft.mapped(path, DOCKERFILE, f"with more at its end: {'; '.join(draft.image_lines)}")
