"""Where every field of a Terminal-Bench task goes. docs/spec/conversion.md has the same tables."""

from __future__ import annotations

from typing import Any

from arena.packages.conversion.fields import (
    Aside,
    Leave,
    Rule,
    Stands,
    To,
    Unfit,
    megabytes,
    number,
    one_of,
    text,
    texts,
    without_email,
)
from arena.packages.conversion.image import COMPOSE_ENV, WORKDIR

_PROMPT = Stands("task.md: ## prompt", "its text, without blank lines around it")
_EMAIL = Leave("an e-mail address would become public")
_WIRING = Leave("wiring of the source's harness; the arena makes the container itself")
_ORACLE = Stands("oracle/solve.sh", "one command after the other")
_PACE = Leave("a script runs at its own pace")

TASK_FIELDS: dict[str, Rule] = {
    "instruction": _PROMPT,
    "descriptions[].key": Aside("one of several wordings; base is the prompt"),
    "descriptions[].description": Aside("one of several wordings; base is the prompt"),
    "author_name": To("metadata.author_name", change=without_email),
    "author_email": _EMAIL,
    "difficulty": To("metadata.difficulty", change=one_of("easy", "medium", "hard")),
    "tags": To("metadata.tags", change=texts),
    "license": To("metadata.license", change=text),
    "parser_name": Aside("kept; here the exit status of run-tests.sh is the verdict"),
    "max_agent_timeout_sec": To("agent.timeout_sec", change=number),
    "max_test_timeout_sec": To("verifier.timeout_sec", change=number),
    "test_scripts": Aside("kept; verifier/test.sh runs run-tests.sh alone"),
    "run_tests_in_same_shell": Aside("kept; here a container of its own verifies"),
    "disable_asciinema": Aside("kept; nothing is recorded here"),
    "estimated_duration_sec": To("metadata.estimated_duration_sec"),
    "expert_time_estimate_min": To("metadata.expert_time_estimate_min"),
    "junior_time_estimate_min": To("metadata.junior_time_estimate_min"),
}


def _no_network(value: Any) -> bool:
    if value != "none":
        raise Unfit("kept; a task here has the network or has none")
    return False


# of the service in which the agent works
CLIENT_FIELDS: dict[str, Rule] = {
    "build": Stands("environment/", "the build context"),
    "build.context": Stands("environment/", "the build context"),
    "build.dockerfile": Stands("environment/Dockerfile"),
    "build.*": Leave("the Dockerfile is built without further settings: write them into it"),
    "image": _WIRING,
    "container_name": _WIRING,
    "command": _WIRING,
    "volumes": Leave("nothing is mounted here; the harness's log folders are not needed"),
    "environment.TEST_DIR": Stands("verifier/test.sh", "set to the folder of the tests"),
    "environment.*": COMPOSE_ENV,
    "working_dir": WORKDIR,
    "network_mode": To("environment.allow_internet", change=_no_network),
    "cpus": To("environment.cpus", change=number),
    "mem_limit": To("environment.memory_mb", change=megabytes),
    "deploy.resources.limits.cpus": To("environment.cpus", change=number),
    "deploy.resources.limits.memory": To("environment.memory_mb", change=megabytes),
    "*": Leave("the arena starts its container without such a setting"),
}
COMPOSE_FIELDS: dict[str, Rule] = {
    "version": _WIRING,
    "services.*": Leave("the arena starts one container, so this service is not there"),
    "*": Leave("the arena starts one container"),
}
SOLUTION_FIELDS: dict[str, Rule] = {
    "[].command": _ORACLE,
    "[].min_timeout_sec": _PACE,
    "[].max_timeout_sec": _PACE,
    "[].block": Leave("a script waits for each command"),
    "[].append_enter": Leave("a script has no keys; commands that were keys are named as to do"),
    "[].*": Leave("a script has no such setting"),
}
