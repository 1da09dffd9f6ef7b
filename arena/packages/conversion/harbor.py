"""Harbor: `task.toml`, `instruction.md`, `environment/`, `tests/`, `solution/`, or `steps/`."""

from __future__ import annotations

import re
from typing import Any

from arena.packages.conversion.draft import DOCKERFILE, Draft
from arena.packages.conversion.harbor_fields import HARBOR_FIELDS
from arena.packages.conversion.image import write_dockerfile
from arena.packages.conversion.settle import NO_PROCESS, category_rule, settle
from arena.packages.conversion.steps import join_steps, step_names
from arena.packages.dockerfile import parse_dockerfile
from arena.packages.schema import DEFAULT_WORKSPACE, Domain

DEFAULTS: dict[str, dict[str, Any]] = {
    "agent": {"timeout_sec": 900},
    "verifier": {"timeout_sec": 600, "environment_mode": "shared"},
}
_COMPOSE = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")
_PLAIN_PATH = re.compile(r"(?:/[\w-][\w.-]*)+")
_SCRIPT = "byte for byte; it finds its files at /verifier and at /tests"
# what a task may ask for and the arena's sandbox does not give
_NOT_GIVEN = ("gpus", "tpu", "healthcheck", "mcp_servers", "skills_dir")


def convert_harbor(draft: Draft, domain: Domain | None) -> None:
    """Fills the draft from a Harbor task."""
    settings = draft.source.toml("task.toml")
    draft.mapped("task.toml", "task.md", "field by field")
    steps = step_names(settings.get("steps"))
    rules = HARBOR_FIELDS | {"metadata.category": category_rule(domain)}
    draft.take_fields("task.toml", settings, rules)
    _take_files(draft, "verifier/shared" if steps else "verifier")
    if steps:
        join_steps(draft, steps, settings.get("multi_step_reward_strategy"))
    else:
        draft.prompt = draft.source.text("instruction.md")
        note = "its text, without blank lines around it"
        draft.mapped("instruction.md", "task.md: ## prompt", note)
    environment = draft.front["environment"]
    write_dockerfile(draft, DOCKERFILE, environment.get("docker_image"))
    _take_the_rest(draft)
    _settle_author(draft)
    _settle_artifacts(draft, settings.get("artifacts"))
    _say_what_is_not_given(draft, environment)
    if "timeout_sec" not in draft.front["agent"]:
        draft.todo(
            "task.md: agent.timeout_sec: the source sets none for the whole task; 900 is written"
        )
    settle(draft, domain, DEFAULTS)


def _take_files(draft: Draft, tests: str) -> None:
    for path in draft.source.below("tests"):
        script = path == "tests/test.sh"
        to = f"{tests}/{path.partition('/')[2]}"
        draft.copy(path, to, _SCRIPT if script else "byte for byte")
    for path in draft.source.below("solution"):
        draft.copy(path, f"oracle/{path.partition('/')[2]}")


def _take_the_rest(draft: Draft) -> None:
    """Files that no rule names stay where they are; the agent sees those of environment/ alone."""
    taken = {mapped.origin for mapped in draft.report.mapped} | set(draft.report.carried)
    for path in draft.source.files:
        if path in taken:
            continue
        if path == "instruction.md":
            draft.left(path, "a task of several steps takes their instructions")
        else:
            draft.copy(path, path)
    for name in _COMPOSE:
        if f"environment/{name}" in draft.source.files:
            draft.todo(
                f"environment/{name}: kept, but the arena starts one container, of the Dockerfile: "
                "put what its services do into it"
            )


def _settle_author(draft: Draft) -> None:
    metadata = draft.front["metadata"]
    if any(metadata.get(key) for key in ("author_hub", "author_name", "author")):
        return
    task = draft.front.get("task")
    authors = task.get("authors") if isinstance(task, dict) else None
    for author in authors if isinstance(authors, list) else []:
        name = author.get("name") if isinstance(author, dict) else author
        if isinstance(name, str) and name:
            metadata["author_name"] = name
            return


def _settle_artifacts(draft: Draft, artifacts: Any) -> None:
    """Harbor collects artifacts beside the container; here the verifier sees them in it."""
    items = artifacts if isinstance(artifacts, list) else []
    paths = [item.get("source") if isinstance(item, dict) else item for item in items]
    if paths:
        lines = parse_dockerfile(draft.text_of(DOCKERFILE)).instructions
        workdirs = [line.value for line in lines if line.name == "WORKDIR"]
        plain = workdirs and _PLAIN_PATH.fullmatch(workdirs[-1])
        paths.append(workdirs[-1] if plain else DEFAULT_WORKSPACE)
        draft.front["artifacts"] = list(dict.fromkeys(map(str, paths)))
    if draft.front["verifier"].get("environment_mode") == "separate":
        draft.todo(
            "task.md: artifacts: the verifier sees the working directory (or the artifacts) alone; "
            "name the other paths that the checks look at"
        )
    else:
        draft.todo(NO_PROCESS)


def _say_what_is_not_given(draft: Draft, environment: dict[str, Any]) -> None:
    wanted = [name for name in _NOT_GIVEN if environment.get(name)]
    if environment.get("os", "linux") != "linux":
        wanted.append("os")
    for name in wanted:
        draft.todo(
            f"task.md: environment.{name}: kept, but the arena's sandbox gives no such thing"
        )
