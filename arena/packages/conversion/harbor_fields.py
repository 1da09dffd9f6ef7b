"""Where every field of a Harbor `task.toml` goes. docs/spec/conversion.md has the same table."""

from __future__ import annotations

from arena.packages.conversion.fields import (
    Aside,
    Leave,
    Rule,
    Stands,
    To,
    megabytes,
    number,
    one_of,
    text,
    texts,
    without_email,
)
from arena.packages.conversion.image import ENV, WORKDIR

_NOT_DONE = "kept; the arena's sandbox does not act on it"
_ONE_NETWORK = "kept; here one network setting holds for the whole task"
_ARTIFACT = Stands("task.md: artifacts", "what reaches the verifier, with the working directory")
_KEPT = To(note=_NOT_DONE)
_PUBLIC = To(change=without_email)
_EMAIL = Leave("an e-mail address would become public")
_FORMAT = Stands("task.md: version", "the package format's own version, 1.0")
_STEP = "kept; the steps' prompts, checks and solutions are joined in their order"

HARBOR_FIELDS: dict[str, Rule] = {
    "schema_version": _FORMAT,
    "version": _FORMAT,
    "source": _PUBLIC,
    "task.name": _PUBLIC,
    "task.version": _PUBLIC,
    "task.description": _PUBLIC,
    "task.keywords": _PUBLIC,
    "task.authors": _PUBLIC,
    "task.authors[].name": _PUBLIC,
    "task.authors[].email": _EMAIL,
    "task.*": _PUBLIC,
    "metadata.author_name": _PUBLIC,
    "metadata.author_email": _EMAIL,
    "metadata.difficulty": To(change=one_of("easy", "medium", "hard")),
    "metadata.tags": To(change=texts),
    "metadata.license": To(change=text),
    "metadata.origin": To(change=one_of("original", "adapted", "generated")),
    "metadata.origin_url": To(change=text),
    "metadata.*": _PUBLIC,
    "agent.timeout_sec": To(change=number),
    "agent.user": To(),
    "agent.network_mode": To(note=_ONE_NETWORK),
    "agent.allowed_hosts": To(note=_ONE_NETWORK),
    "verifier.timeout_sec": To(change=number),
    "verifier.env.*": To(note="kept; set what the checks need in the script or the Dockerfile"),
    "verifier.user": _KEPT,
    "verifier.network_mode": To(note=_ONE_NETWORK),
    "verifier.allowed_hosts": To(note=_ONE_NETWORK),
    "verifier.environment_mode": To(change=one_of("separate", "shared")),
    "verifier.environment.*": _KEPT,
    "verifier.collect[].*": _KEPT,
    "solution.env.*": Aside("kept; set what the solution needs in oracle/solve.sh"),
    "environment.build_timeout_sec": To(change=number),
    "environment.docker_image": To(note="kept; the arena builds environment/Dockerfile"),
    "environment.os": _KEPT,
    "environment.cpus": To(change=number),
    "environment.memory_mb": To(change=megabytes),
    "environment.storage_mb": To(change=megabytes),
    "environment.memory": To("environment.memory_mb", change=megabytes),
    "environment.storage": To("environment.storage_mb", change=megabytes),
    "environment.gpus": _KEPT,
    "environment.gpu_types": _KEPT,
    "environment.tpu.*": _KEPT,
    "environment.allow_internet": To(),
    "environment.network_mode": To(),
    "environment.allowed_hosts": To(),
    "environment.env.*": ENV,
    "environment.workdir": WORKDIR,
    "environment.skills_dir": _KEPT,
    "environment.healthcheck.*": _KEPT,
    "environment.mcp_servers[].*": _KEPT,
    "artifacts": _ARTIFACT,
    "artifacts[]": _ARTIFACT,
    "artifacts[].source": _ARTIFACT,
    "artifacts[].destination": Leave("the verifier finds each artifact at its own path"),
    "artifacts[].exclude": Leave("an artifact is carried whole"),
    "artifacts[].*": Leave("an artifact is a path here"),
    "multi_step_reward_strategy": Stands("verifier/test.sh", "how the steps' rewards are joined"),
    "steps[].name": To(note=_STEP),
    "steps[].min_reward": To(note="kept; all steps are verified, once, at the end"),
    "steps[].agent.*": To(note=_STEP),
    "steps[].verifier.*": To(note=_STEP),
    "steps[].healthcheck.*": _KEPT,
    "steps[].artifacts": _KEPT,
    "steps[].artifacts[].*": _KEPT,
}
