"""What a test changes in the sound package: one part of it, said in few words."""

from tests.collections import FILES

Changes = dict[str, str | None]


def task(old: str, new: str) -> Changes:
    """`task.md` with one part of it replaced."""
    assert old in FILES["task.md"]
    return {"task.md": FILES["task.md"].replace(old, new)}


def prompt(*lines: str) -> Changes:
    """`task.md` with another prompt, which begins at line 19."""
    return task("Write the word apple to /root/answer.txt.\n", "\n".join([*lines, ""]))


def verdict(*lines: str, shell: str = "#!/bin/sh") -> Changes:
    return {"verifier/test.sh": "\n".join([shell, *lines, ""])}


def dockerfile(*lines: str) -> Changes:
    return {"environment/Dockerfile": "\n".join(["FROM busybox:1.35.0", *lines, ""])}


def outputs(*lines: str) -> Changes:
    return {"verifier/test_outputs.py": "\n".join([*lines, ""])}
