"""Debian's packages: whether this machine may install them, and installing them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO


class InstallError(Exception):
    """A package could not be installed; the message holds what apt-get said last."""


def why_not_installable() -> str | None:
    """None where packages may be installed, else the reason in words."""
    if os.geteuid() != 0:
        return "not root"
    if shutil.which("apt-get") is None or not Path("/etc/debian_version").exists():
        return "not on Debian or Ubuntu"
    return None


def install(packages: list[str], log: IO[bytes], if_known: Sequence[str] = ()) -> None:
    """Install `packages` and nothing that they merely recommend; apt's words go to `log`.

    `if_known`: what some releases have as packages of their own, and others within another.
    """
    _apt_get(log, "update")
    known = [package for package in if_known if _is_known(package)]
    _apt_get(log, "install", "--no-install-recommends", *packages, *known)


def _apt_get(log: IO[bytes], action: str, *arguments: str) -> None:
    done = subprocess.run(
        ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=120", action, *arguments],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    log.write(done.stdout)
    if done.returncode != 0:
        said = done.stdout.decode("utf-8", "replace").strip().splitlines()[-5:]
        raise InstallError(f"apt-get {action} failed: " + " | ".join(said))


def _is_known(package: str) -> bool:
    asked = ["apt-cache", "show", "--quiet", package]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def package_version(package: str) -> str | None:
    """The installed version of a Debian package, None where it is not installed."""
    if shutil.which("dpkg-query") is None:
        return None
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package],
        capture_output=True,
        text=True,
        check=False,
    )
    status, _, version = done.stdout.partition(" ")
    return version if done.returncode == 0 and status == "installed" else None


def mirror() -> str | None:
    """Where apt gets Debian itself from; None where none of its sources is Debian's."""
    fields = "$(ORIGIN) $(LABEL) $(COMPONENT) $(REPO_URI)"
    done = subprocess.run(
        ["apt-get", "indextargets", "--format", fields, "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=False,
    )
    for line in done.stdout.splitlines():
        if line.startswith("Debian Debian main "):
            return line.removeprefix("Debian Debian main ")
    return None
