"""What both formats leave to be settled: domain, author, origin, licence, network, prompt."""

from __future__ import annotations

import re
from typing import Any

from arena.packages.conversion.draft import Draft
from arena.packages.conversion.fields import To
from arena.packages.document import reserved_lines
from arena.packages.schema import Domain, domain_of

NO_PROCESS = (
    "task.md: verifier.environment_mode: shared: the verifier sees what the agent changed on the "
    "disk, but no process of the agent; what must run then belongs to environment.services"
)
_ADDRESS = re.compile(r"https?://[^\s/]{1,255}(?:/\S{0,1000})?")


def category_rule(domain: Domain | None) -> To:
    """Where a category goes: to its domain; to the one that was asked for, where one was."""

    def change(word: Any) -> Any:
        found = domain or domain_of(word)
        return word if found is None else found.value

    return To(change=change)


def settle(draft: Draft, domain: Domain | None, defaults: dict[str, Any]) -> None:
    """Fills in what is known, and names what its author must."""
    metadata = draft.front["metadata"]
    if domain is not None:
        metadata.setdefault("category", domain.value)
    if domain_of(metadata.get("category")) is None:
        word = metadata.get("category")
        found = f"{word!r} is none of" if word is not None else "the source names none;"
        draft.todo(f"task.md: metadata.category: {found} the domains {', '.join(Domain)}")
    if not any(metadata.get(key) for key in ("author_hub", "author_name", "author")):
        draft.todo("task.md: metadata.author_hub: the source names no author; your Hub user name")
    _settle_origin(draft, metadata)
    if not metadata.get("license"):
        draft.todo("task.md: metadata.license: the source names none; an SPDX id")
    for section, values in defaults.items():
        for key, value in values.items():
            draft.front[section].setdefault(key, value)
    _settle_network(draft, draft.front["environment"])
    keep_prompt(draft)


def _settle_origin(draft: Draft, metadata: dict[str, Any]) -> None:
    if metadata.get("origin"):
        return
    candidates = [metadata.get(key) for key in ("origin_url", "source_url", "url", "source")]
    for value in (*candidates, draft.front.get("source")):
        if isinstance(value, str) and _ADDRESS.fullmatch(value):
            metadata["origin"] = "adapted"
            metadata["origin_url"] = value
            return
    draft.todo("task.md: metadata.origin: original, adapted (with origin_url) or generated")


def _settle_network(draft: Draft, environment: dict[str, Any]) -> None:
    if not {"allow_internet", "network_mode"} & environment.keys():
        environment["allow_internet"] = True
        draft.todo(
            "task.md: environment.allow_internet: the source's format has the network on where "
            "nothing is said, so it is true; set it to false where the task needs none"
        )


def keep_prompt(draft: Draft) -> None:
    """A prompt with a heading that a task.md reserves would be cut there: one blank prevents it."""
    lines = draft.prompt.replace("\r\n", "\n").split("\n")
    for index in (reserved := reserved_lines(lines)):
        lines[index] = " " + lines[index]
    draft.prompt = "\n".join(lines).strip("\n")
    if reserved:
        draft.todo(
            f"task.md: ## prompt: headings that a task.md reserves ({len(reserved)} of them) got a "
            "blank before them, which Markdown reads alike; reword them if you like"
        )
