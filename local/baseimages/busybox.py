"""busybox:1.35.0 from Debian's busybox-static: made in a second, enough for shell tasks."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path
from typing import IO

from local import debian
from local.baseimages.archive import BaseImageError, StandIn, add_file, write_image

BUSYBOX = "busybox:1.35.0"

_PACKAGE = "busybox-static"
_BINARY = Path("/bin/busybox")
_FOLDERS = {"bin": 0o755, "dev": 0o755, "etc": 0o755, "proc": 0o755, "root": 0o700, "sys": 0o755}
_FOLDERS |= {"tmp": 0o1777, "usr": 0o755, "usr/bin": 0o755, "var": 0o755}
_ACCOUNTS = {
    "etc/passwd": b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": b"root:x:0:\nnogroup:x:65534:\n",
}


def write(target: IO[bytes]) -> None:
    """Write the image; Debian's package is installed where it is missing."""
    version = _version()
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as archive:
        _add_root(archive)
    write_image(target, StandIn(BUSYBOX, f"Debian's {_PACKAGE} {version}", "sh"), layer)


def _version() -> str:
    if debian.package_version(_PACKAGE) is None:
        if reason := debian.why_not_installable():
            raise BaseImageError(f"{BUSYBOX}: Debian's {_PACKAGE} is missing: {reason}")
        try:
            debian.install([_PACKAGE], io.BytesIO())
        except debian.InstallError as error:
            raise BaseImageError(f"{BUSYBOX}: {error}") from error
    return debian.package_version(_PACKAGE) or "of an unknown version"


def _add_root(archive: tarfile.TarFile) -> None:
    """The file system: the binary, a link for each of its applets, and the files of a user root."""
    for name, mode in _FOLDERS.items():
        member = tarfile.TarInfo(name)
        member.type, member.mode = tarfile.DIRTYPE, mode
        archive.addfile(member)
    add_file(archive, "bin/busybox", io.BytesIO(_BINARY.read_bytes()), mode=0o755)
    for name, content in _ACCOUNTS.items():
        add_file(archive, name, io.BytesIO(content))
    listed = subprocess.run([_BINARY, "--list"], capture_output=True, text=True, check=True)
    links = {f"bin/{name}": "busybox" for name in sorted({*listed.stdout.split()} - {"busybox"})}
    links["usr/bin/env"] = "/bin/busybox"  # `#!/usr/bin/env sh` is a common first line
    for name, linkname in links.items():
        member = tarfile.TarInfo(name)
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, linkname, 0o777
        archive.addfile(member)
