"""Which process a container belongs to, told so that a dead owner is never taken for a living one.

A process id alone is reused; with the process's start time it names one process for good.
"""

from __future__ import annotations

import os
import platform
import subprocess
from functools import lru_cache
from pathlib import Path

OWNER_LABEL = "org.posttrain-arena.owner"


def this_process() -> str:
    """The owner label of this process."""
    return _label(os.getpid())


def is_alive(owner: str) -> bool:
    """Whether an owner may still live; one on another machine may."""
    host, _, rest = owner.partition("|")
    if host != platform.node():
        return owner != ""
    pid, _, started = rest.partition("|")
    return pid.isdigit() and _start_time(int(pid)) == started != ""


@lru_cache(maxsize=2)  # by process id, which a fork changes
def _label(pid: int) -> str:
    return f"{platform.node()}|{pid}|{_start_time(pid)}"


def _start_time(pid: int) -> str:
    """When a process started, in whatever unit the system counts; empty where there is none."""
    try:
        # The second field, the command's name in brackets, may hold spaces and brackets.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields[19]
    except (OSError, IndexError):
        if Path("/proc/self").exists():
            return ""
    asked = ["ps", "-o", "lstart=", "-p", str(pid)]  # macOS has no /proc
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
