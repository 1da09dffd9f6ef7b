"""An image of one layer as `docker load` reads it."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from dataclasses import dataclass
from typing import IO

STAND_IN_LABEL = "org.posttrain-arena.stand-in"

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}  # Docker's words for them
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_EPOCH = "1970-01-01T00:00:00Z"


class BaseImageError(Exception):
    """A stand-in could not be made; the message says what is missing."""


@dataclass(frozen=True)
class StandIn:
    """What an image says of itself: the name it takes, what it is made from, what it starts."""

    name: str
    made_from: str
    command: str
    environment: tuple[str, ...] = ()


def write_image(target: IO[bytes], stand_in: StandIn, layer: IO[bytes]) -> None:
    """Write the image whose file system is the tar archive `layer`, which can be read twice.

    With a fixed date the image's id depends on the content alone.
    """
    layer.seek(0)
    digest = hashlib.file_digest(layer, "sha256").hexdigest()  # type: ignore[arg-type]
    label = f"{stand_in.name}, made from {stand_in.made_from}"
    config = {
        "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "created": _EPOCH,
        "config": {
            "Env": [f"PATH={_PATH}", *stand_in.environment],
            "Cmd": [stand_in.command],
            "Labels": {STAND_IN_LABEL: label},
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        "history": [{"created": _EPOCH, "created_by": label}],
    }
    manifest = [{"Config": "config.json", "RepoTags": [stand_in.name], "Layers": ["layer.tar"]}]
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, part in {"config.json": config, "manifest.json": manifest}.items():
            add_file(archive, name, io.BytesIO(json.dumps(part).encode()))
        add_file(archive, "layer.tar", layer)


def add_file(archive: tarfile.TarFile, name: str, content: IO[bytes], mode: int = 0o644) -> None:
    """Add a file in which nothing tells when and by whom it was made."""
    member = tarfile.TarInfo(name)
    member.size = content.seek(0, io.SEEK_END)
    member.mode = mode
    content.seek(0)
    archive.addfile(member, content)
