"""Terminal-Bench: `task.yaml`, `solution.sh` or `.yaml`, `tests/`, `run-tests.sh`, Dockerfile."""

from __future__ import annotations

import posixpath
from typing import Any

from arena.packages.conversion.draft import DOCKERFILE, Draft
from arena.packages.conversion.fields import Rule, written
from arena.packages.conversion.generated import RUN_TESTS
from arena.packages.conversion.image import write_dockerfile
from arena.packages.conversion.settle import NO_PROCESS, category_rule, settle
from arena.packages.conversion.terminal_bench_fields import (
    CLIENT_FIELDS,
    COMPOSE_FIELDS,
    SOLUTION_FIELDS,
    TASK_FIELDS,
)
from arena.packages.schema import Domain

DEFAULTS: dict[str, dict[str, Any]] = {
    "agent": {"timeout_sec": 360},
    "verifier": {"timeout_sec": 60, "environment_mode": "shared"},
}
_COMPOSE = ("docker-compose.yaml", "docker-compose.yml")
_KNOWN = frozenset(key.partition(".")[0] for key in CLIENT_FIELDS)
_LOGS = "T_BENCH_"


def convert_terminal_bench(draft: Draft, domain: Domain | None) -> None:
    """Fills the draft from a Terminal-Bench task."""
    settings = draft.source.yaml("task.yaml")
    if not isinstance(settings, dict):
        raise draft.source.refused("task.yaml is not a mapping of keys to values")
    draft.mapped("task.yaml", "task.md", "field by field")
    rules: dict[str, Rule] = TASK_FIELDS | {
        "category": category_rule(domain)._replace(path="metadata.category")
    }
    draft.prompt = _prompt(draft, settings)
    draft.take_fields("task.yaml", settings, rules)
    _take_verifier(draft, settings)
    _take_oracle(draft)
    context, dockerfile = _take_compose(draft)
    write_dockerfile(draft, dockerfile)
    _take_the_rest(draft, context)
    draft.todo(NO_PROCESS)
    settle(draft, domain, DEFAULTS)


def _prompt(draft: Draft, settings: dict[str, Any]) -> str:
    """The instruction; of an older task the description named `base`, else the first."""
    if isinstance(settings.get("instruction"), str):
        return str(settings["instruction"])
    descriptions = settings.get("descriptions")
    known = (
        [d for d in descriptions if isinstance(d, dict)] if isinstance(descriptions, list) else []
    )
    known.sort(key=lambda d: d.get("key") != "base")
    for description in known:
        if isinstance(description.get("description"), str):
            return str(description["description"])
    raise draft.source.refused("task.yaml has no instruction")


def _take_verifier(draft: Draft, settings: dict[str, Any]) -> None:
    for path in draft.source.below("tests"):
        draft.copy(path, f"verifier/{path.partition('/')[2]}")
    if "run-tests.sh" in draft.source.files:
        draft.copy("run-tests.sh", "verifier/run-tests.sh")
    if "verifier/run-tests.sh" in draft.files:
        draft.write("verifier/test.sh", RUN_TESTS, executable=True)
    else:
        draft.todo("verifier/test.sh: the source has no run-tests.sh; write what runs the tests")
    if settings.get("parser_name", "pytest") != "pytest":
        draft.todo(
            "verifier/test.sh: the source reads its verdict from the output of the tests, by a "
            "parser of its own; look whether the exit status of run-tests.sh says the same"
        )
    if settings.get("run_tests_in_same_shell") is True:
        draft.todo("verifier/test.sh: the source tests in the agent's shell; here a new one does")


def _take_oracle(draft: Draft) -> None:
    if "solution.sh" in draft.source.files:
        draft.copy("solution.sh", "oracle/solve.sh")
        if "solution.yaml" in draft.source.files:
            draft.left("solution.yaml", "solution.sh stands beside it, and counts")
        return
    if "solution.yaml" not in draft.source.files:
        return
    commands = draft.source.yaml("solution.yaml")
    if not isinstance(commands, list) or not all(isinstance(c, dict) for c in commands):
        raise draft.source.refused("solution.yaml is not a list of commands")
    draft.mapped("solution.yaml", "oracle/solve.sh", "its commands, in their order")
    draft.take_fields("solution.yaml", commands, SOLUTION_FIELDS)
    lines = [str(entry.get("command", "")) for entry in commands]
    draft.write("oracle/solve.sh", "\n".join(["#!/bin/bash", *lines]) + "\n", executable=True)
    if any(entry.get("append_enter") is False for entry in commands):
        draft.todo("oracle/solve.sh: some commands of solution.yaml were keys pressed in a program")


def _take_compose(draft: Draft) -> tuple[str, str]:
    """Takes the compose file's fields; returns the folder of the build context, the Dockerfile."""
    name = next((name for name in _COMPOSE if name in draft.source.files), None)
    data = draft.source.yaml(name) if name else {}
    services = data.get("services") if isinstance(data, dict) else None
    if name is None or not isinstance(services, dict) or not services:
        return "", "Dockerfile"
    client = "client" if "client" in services else next(iter(services))
    service = services[client] if isinstance(services[client], dict) else {}
    _spread_environment(service)
    prefix = f"services.{written((client,))}"
    own = {f"{prefix}.{key}": rule for key, rule in CLIENT_FIELDS.items()}
    draft.take_fields(name, data, COMPOSE_FIELDS | own)
    _keep_compose(draft, name, services, service)
    return _build_of(draft, service)


def _spread_environment(service: dict[str, Any]) -> None:
    """A list of NAME=value as the table that it means."""
    environment = service.get("environment")
    if isinstance(environment, list):
        pairs = (str(item).partition("=") for item in environment)
        service["environment"] = {key: value if is_set else "${}" for key, is_set, value in pairs}


def _keep_compose(
    draft: Draft, name: str, services: dict[str, Any], service: dict[str, Any]
) -> None:
    volumes = service.get("volumes")
    mounts = volumes if isinstance(volumes, list) else []
    more = sorted(service.keys() - _KNOWN)
    more += ["volumes"] if any(_LOGS not in str(volume) for volume in mounts) else []
    if len(services) == 1 and not more:
        draft.left(name, "the arena makes the container itself; its fields are listed one by one")
        return
    draft.copy(name, f"environment/{name}", "byte for byte; nothing here reads it")
    lost = [f"services.{key}" for key in services if services[key] is not service] + more
    draft.todo(
        f"environment/{name}: the arena starts one container, of the Dockerfile; put into it what "
        f"these gave: {', '.join(lost)}"
    )


def _build_of(draft: Draft, service: dict[str, Any]) -> tuple[str, str]:
    build = service.get("build")
    build = (
        {"context": build} if isinstance(build, str) else build if isinstance(build, dict) else {}
    )
    context = posixpath.normpath(str(build.get("context", ".")))
    if context == "." or "${" in context:
        context = ""
    elif context.startswith(("/", "..")):
        draft.todo(f"environment/: the build context {context!r} is not in the task; copy it here")
        context = ""
    file = str(build.get("dockerfile", "Dockerfile"))
    return context, posixpath.normpath(posixpath.join(context, file))


def _take_the_rest(draft: Draft, context: str) -> None:
    """The build context becomes environment/; what lies beside it stays where it is."""
    taken = {mapped.origin for mapped in draft.report.mapped}
    taken |= {left.what for left in draft.report.left} | set(draft.report.carried)
    for path in draft.source.files:
        if path in taken:
            continue
        inner = path.removeprefix(f"{context}/") if context else path
        if context and inner == path:
            draft.copy(path, path)
        elif inner == "Dockerfile" and DOCKERFILE in draft.files:
            draft.left(path, "the compose file names another Dockerfile")
        else:
            draft.copy(path, f"environment/{inner}", "byte for byte, in the build context")
