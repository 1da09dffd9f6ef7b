"""What a conversion refuses."""

from __future__ import annotations

from arena.errors import ArenaError


class NotConverted(ArenaError):
    code, status = "not_converted", 422
    text = "{source} was not converted: {problem}."
    advice = "{following}"


class NoTask(ArenaError):
    code, status = "no_task", 404
    text = "{source} holds no task to convert: {problem}."
    advice = (
        "A Harbor task has a task.toml, a Terminal-Bench task a task.yaml beside its tests; "
        "name such a folder, or a folder of them."
    )


class DestinationInUse(ArenaError):
    code, status = "destination_in_use", 409
    text = "{destination} {problem}."
    advice = "Name a folder that does not exist yet; nothing was written."
