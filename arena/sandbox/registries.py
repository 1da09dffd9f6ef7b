"""From where an author's Dockerfile fetches, beside Docker Hub, and what a message says of it.

What an author names is the author's: a made-up registry must not void runs for ever. Docker Hub is
where everybody's images come from, so trouble with it is never one author's.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from arena.packages.dockerfile import base_images, parse_dockerfile
from arena.sandbox.foreign import added, mounted

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://.*", re.I | re.S)
_HUBS = re.compile(
    r"(.*\.)?docker\.(io|com)|docker-images-prod\..*\.cloudflarestorage\.com", re.IGNORECASE
)
# Names that no public registry can have: RFC 2606.
_MADE_UP = re.compile(r"(.*\.)?(invalid|example|test)", re.IGNORECASE)
_OF_MESSAGE = re.compile(r"https?://([\w.-]+|\[[0-9a-f:]+\])|\blookup ([\w.-]+)|\bhost ([\w.-]+)")


def own_registries(dockerfile: str) -> frozenset[str]:
    """The hosts that a Dockerfile names as sources of images and files, without Docker Hub's."""
    parsed = parse_dockerfile(dockerfile)
    images = [image for image, _ in (*base_images(parsed), *mounted(parsed)) if _has_host(image)]
    hosts = [image.partition("/")[0] for image in images]
    hosts += [_host_of(source) for source, _ in added(parsed)]
    return frozenset(host for host in hosts if not _HUBS.fullmatch(host.partition(":")[0]))


def told_of(message: str) -> list[str]:
    """The hosts that a message of the engine's speaks of, without ports."""
    return ["".join(found) for found in _OF_MESSAGE.findall(message)]


def is_docker_hubs(host: str) -> bool:
    """Whether Docker Hub answers under this name."""
    return _HUBS.fullmatch(host) is not None


def is_made_up(host: str) -> bool:
    """Whether nobody can ever answer under this name."""
    return _MADE_UP.fullmatch(host) is not None


def _has_host(image: str) -> bool:
    first, slash, _ = image.partition("/")
    return "$" in image or (bool(slash) and (first == "localhost" or "." in first or ":" in first))


def _host_of(source: str) -> str:
    if not _ADDRESS.fullmatch(source):
        return source.removeprefix("git@").partition(":")[0]
    try:
        return urlsplit(source).netloc.rpartition("@")[2]
    except ValueError:
        return source
