"""python:3.11-slim-bookworm from Debian bookworm's own packages: made in a minute, kept as a file.

Debian keeps pip, ensurepip, distutils and tkinter in packages of their own; they are not in it.
"""

from __future__ import annotations

import io
import os
import subprocess
import tempfile
from pathlib import Path
from typing import IO

from local import debian
from local.baseimages.archive import BaseImageError, StandIn, write_image

PYTHON = "python:3.11-slim-bookworm"

_RELEASE = "bookworm"
_STAND_IN = StandIn(PYTHON, f"Debian {_RELEASE}'s packages", "python3", ("LANG=C.UTF-8",))
_SECONDS = 600
_DOCUMENTATION = ("man", "doc", "info", "locale")
# Where the real image has its interpreter; scripts name it by these paths.
_LINK = 'cd "$1/usr/local/bin" && for name in python python3 python3.11; do '
_LINK += 'ln -s /usr/bin/python3.11 "$name"; done'
# What tells of this machine, and what only says what was there before.
_CLEAN = 'rm -f "$1"/etc/hostname "$1"/etc/resolv.conf "$1"/var/cache/debconf/*-old'


def write(target: IO[bytes]) -> None:
    """Write the image; mmdebstrap is installed where it is missing. Needs root and Debian."""
    if reason := debian.why_not_installable():
        raise BaseImageError(f"{PYTHON} is made from Debian's packages: {reason}")
    try:
        # Even where it is there: this reads the package lists, which name the mirror.
        debian.install(["mmdebstrap"], io.BytesIO())
    except debian.InstallError as error:
        raise BaseImageError(f"{PYTHON}: {error}") from error
    mirror = debian.mirror()
    if mirror is None:
        raise BaseImageError(f"{PYTHON} is made from Debian's packages: apt knows no mirror of it")
    with tempfile.TemporaryDirectory() as folder:
        layer = Path(folder) / "layer.tar"
        _bootstrap(layer, mirror)
        with layer.open("rb") as content:
            write_image(target, _STAND_IN, content)


def _bootstrap(layer: Path, mirror: str) -> None:
    command = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--skip=output/dev"]
    # Without the hook a package that moves folders comes in, and brings all of Perl.
    command += ["--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr", "--include=usr-is-merged"]
    command += ["--include=python3", "--aptopt=APT::Install-Recommends false"]
    command += ["--aptopt=Acquire::Languages none", "--dpkgopt=force-unsafe-io"]
    command += [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in _DOCUMENTATION]
    command += [f"--customize-hook={_LINK}", f"--customize-hook={_CLEAN}"]
    try:
        done = subprocess.run(
            [*command, _RELEASE, str(layer), mirror],
            env={**os.environ, "SOURCE_DATE_EPOCH": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BaseImageError(f"{PYTHON}: mmdebstrap took longer than {_SECONDS} s") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-5:]
        raise BaseImageError(f"{PYTHON}: mmdebstrap failed: " + " | ".join(said))
