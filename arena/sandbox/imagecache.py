"""How much of an engine's disk the arena's images may keep."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from arena.sandbox.engine import Engine

# Each layer's size, by the layers up to it: only together they say which one it is.
Layers = Mapping[tuple[str, ...], int]

_MAKES_NO_LAYER = re.compile(
    r"(?:/bin/sh -c #\(nop\) +)?(?:ARG|CMD|ENTRYPOINT|ENV|EXPOSE|HEALTHCHECK|LABEL|MAINTAINER"
    r"|ONBUILD|SHELL|STOPSIGNAL|USER|VOLUME) "
)
_NEVER = datetime.min.replace(tzinfo=UTC)


class _Kept(NamedTuple):
    names: Sequence[str]
    last_used: datetime
    layers: Layers


def trim(engine: Engine, repositories: Sequence[str], limit_bytes: int) -> int:
    """Remove the arena's images beyond a limit, least recently used first; returns how many.

    An image without a name goes whatever the limit. One that has a name besides the arena's stays,
    and one that a container uses: the engine refuses to remove it.
    """
    ours, removed = [], 0
    for image in engine.own_images():
        names = [name for name in image["RepoTags"] or () if name != "<none>:<none>"]
        if not names:
            removed += engine.remove_image(image["Id"])
        elif all(name.rpartition(":")[0] in repositories for name in names):
            ours.append(image)
    # With shared layers counted once for each image: no more than that is there.
    if sum(image["Size"] for image in ours) <= limit_bytes:
        return removed
    kept = [one for image in ours if (one := _kept(engine, image)) is not None]
    return removed + _remove_beyond(engine, kept, limit_bytes)


def layer_sizes(diff_ids: Sequence[str], history: Sequence[Mapping[str, Any]]) -> Layers:
    """The layers of an image; `history` is the engine's, newest step first.

    The engine does not say which of the steps without size made an empty layer. As many as there
    are layers left over may have, the first ones; so layers are taken for different ones before
    they are taken for the same.
    """
    with_size = sum(1 for step in history if step["Size"])
    empty = len(diff_ids) - with_size
    layers: dict[tuple[str, ...], int] = {}
    count = 0
    for step in reversed(history):
        if step["Size"]:
            count += 1
            layers[tuple(diff_ids[:count])] = step["Size"]
        elif empty > 0 and not _MAKES_NO_LAYER.match(step["CreatedBy"]):
            count += 1
            empty -= 1
    return layers


def _kept(engine: Engine, image: Mapping[str, Any]) -> _Kept | None:
    """None where another process has removed the image."""
    found = engine.image(image["Id"])
    if found is None:
        return None
    last_used = (found.get("Metadata") or {}).get("LastTagTime")
    return _Kept(
        image["RepoTags"],
        datetime.fromisoformat(last_used) if last_used else _NEVER,
        layer_sizes(found["RootFS"].get("Layers") or (), engine.history(image["Id"])),
    )


def _remove_beyond(engine: Engine, kept: Sequence[_Kept], limit_bytes: int) -> int:
    sizes = {layer: size for image in kept for layer, size in image.layers.items()}
    uses = Counter(layer for image in kept for layer in image.layers)
    total, removed = sum(sizes.values()), 0
    for image in sorted(kept, key=lambda image: image.last_used):
        if total <= limit_bytes:
            break
        # The image goes with its last name.
        if all(engine.remove_image(name) for name in image.names):
            removed += 1
            uses.subtract(image.layers.keys())
            total -= sum(sizes[layer] for layer in image.layers if not uses[layer])
    return removed
