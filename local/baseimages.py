"""Stand-ins for base images, for a private engine that can pull none.

They are made from Debian's own packages and take the names that Dockerfiles use. That shadows the
real images, so they belong in the arena's private engine only, and each is labelled as what it is.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import subprocess
import tarfile
from pathlib import Path

from docker import APIClient
from docker.errors import APIError, ImageNotFound

from local import debian

STAND_IN_LABEL = "org.posttrain-arena.stand-in"
BUSYBOX = "busybox:1.35.0"

_BINARY = Path("/bin/busybox")
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}  # Docker's words for them
_PASSWD = b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
_GROUP = b"root:x:0:\nnogroup:x:65534:\n"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_EPOCH = "1970-01-01T00:00:00Z"


class BaseImageError(Exception):
    """A stand-in could not be made; the message says what is missing."""


def ensure_base_images(url: str) -> list[str]:
    """Make the stand-ins that the private engine at `url` lacks; returns the names just made."""
    client = APIClient(base_url=url, version="auto")
    try:
        client.inspect_image(BUSYBOX)
    except ImageNotFound:
        _make_busybox(client)
        return [BUSYBOX]
    finally:
        client.close()
    return []


def _make_busybox(client: APIClient) -> None:
    version = _busybox_version()
    label = f"{BUSYBOX}, made from Debian's busybox-static {version}"
    try:
        client.load_image(_image(BUSYBOX, label, _root()))
    except APIError as error:
        raise BaseImageError(f"{BUSYBOX}: {error.explanation or error}") from error


def _busybox_version() -> str:
    """The version of Debian's busybox-static, which is installed where it is missing."""
    package = "busybox-static"
    if debian.package_version(package) is None:
        if reason := debian.why_not_installable():
            raise BaseImageError(f"{BUSYBOX}: Debian's {package} is missing: {reason}")
        try:
            debian.install([package], io.BytesIO())
        except debian.InstallError as error:
            raise BaseImageError(f"{BUSYBOX}: {error}") from error
    return debian.package_version(package) or "of an unknown version"


def _image(name: str, label: str, layer: bytes) -> bytes:
    """What `docker load` reads. With a fixed date the image id depends on the content alone."""
    config = {
        "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "created": _EPOCH,
        "config": {"Env": [f"PATH={_PATH}"], "Cmd": ["sh"], "Labels": {STAND_IN_LABEL: label}},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": _EPOCH, "created_by": label}],
    }
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    parts = {"config.json": config, "manifest.json": manifest}
    files = {name: json.dumps(part).encode() for name, part in parts.items()}
    return _tar(files | {"layer.tar": layer})


def _root() -> bytes:
    """The file system: the binary, a link for each of its applets, and the files of a user root."""
    binary = _BINARY.read_bytes()
    listed = subprocess.run([_BINARY, "--list"], capture_output=True, text=True, check=True)
    applets = sorted(set(listed.stdout.split()) - {"busybox"})
    files = {"bin/busybox": binary, "etc/passwd": _PASSWD, "etc/group": _GROUP}
    folders = {"bin": 0o755, "dev": 0o755, "etc": 0o755, "proc": 0o755, "root": 0o700}
    folders |= {"sys": 0o755, "tmp": 0o1777, "usr": 0o755, "usr/bin": 0o755, "var": 0o755}
    # `#!/usr/bin/env sh` is a common first line.
    links = {f"bin/{name}": "busybox" for name in applets} | {"usr/bin/env": "/bin/busybox"}
    return _tar(files, folders, links, executable={"bin/busybox"})


def _tar(
    files: dict[str, bytes],
    folders: dict[str, int] | None = None,
    links: dict[str, str] | None = None,
    executable: set[str] | None = None,
) -> bytes:
    """A tar archive in which nothing depends on when and by whom it was made."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, mode in (folders or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.mode = tarfile.DIRTYPE, mode
            archive.addfile(member)
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            member.mode = 0o755 if name in (executable or ()) else 0o644
            archive.addfile(member, io.BytesIO(data))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.mode = tarfile.SYMTYPE, target, 0o777
            archive.addfile(member)
    return buffer.getvalue()
