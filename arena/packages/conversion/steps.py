"""A Harbor task of several steps as one task: all prompts, one verdict at the end."""

from __future__ import annotations

import re
from typing import Any

from arena.packages.conversion.draft import Draft
from arena.packages.conversion.generated import steps_oracle, steps_verifier

_NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,63}", re.ASCII)
_TODO = (
    "verifier/test.sh: the source verifies each step when it ends; here all steps are verified "
    "once, at the end. Look whether every step's checks still hold then: arena replay shows it"
)


def step_names(steps: Any) -> list[str]:
    """The names of a `steps` list; empty where there is none, or where it is none."""
    if not isinstance(steps, list):
        return []
    return [str(step.get("name", "")) for step in steps if isinstance(step, dict)]


def join_steps(draft: Draft, names: list[str], strategy: Any) -> None:
    """Takes the files of all steps, and writes the scripts that go through them."""
    prompts = []
    for number, name in enumerate(names, 1):
        if not _NAME.fullmatch(name) or names.count(name) > 1:
            raise draft.source.refused(f"the step {name!r} has no plain name of its own")
        path = f"steps/{name}/instruction.md"
        prompts.append(f"# Step {number}: {name}\n\n{draft.source.text(path).strip()}\n")
        draft.mapped(path, "task.md: ## prompt", f"under the heading of step {number}")
        for place, to in (("tests", "verifier"), ("solution", "oracle")):
            for file in draft.source.below(f"steps/{name}/{place}"):
                draft.copy(file, f"{to}/steps/{name}/{file.split('/', 3)[3]}")
        if draft.source.below(f"steps/{name}/workdir"):
            draft.todo(f"steps/{name}/workdir: put it into environment/ and COPY it in the image")
    draft.prompt = "\n".join(prompts)
    draft.write("verifier/test.sh", steps_verifier(names, strategy == "final"), executable=True)
    if any(path.startswith("oracle/steps/") for path in draft.files):
        draft.write("oracle/solve.sh", steps_oracle(names), executable=True)
    draft.todo(_TODO)
