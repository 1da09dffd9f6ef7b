"""Whose fault a failed build is, in the words of BuildKit's versions.

What the engine of the tests says is tried in test_builds.py; here are those that are not at hand.
"""

from __future__ import annotations

import pytest

from arena.sandbox.buildlog import failure, readable
from arena.sandbox.errors import BuildError, EngineError

OLD = "failed to solve with frontend dockerfile.v0: failed to create LLB definition: "
NEW = "ERROR: failed to solve: "
NEWEST = "ERROR: failed to build: failed to solve: "

THE_AUTHORS = [
    'executor failed running [/bin/sh -c curl x; echo "dial tcp"]: exit code: 7',
    f'{NEW}process "/bin/sh -c curl x # i/o timeout" did not complete successfully: exit code: 28',
    f'{NEWEST}process "/bin/sh -c head" did not complete successfully: exit code: 137',
    'failed to compute cache key: "/i/o timeout" not found: not found',
    f"{NEW}failed to compute cache key: failed to calculate checksum of ref a::b: "
    '"/connection refused": not found',
    f"{OLD}dockerfile parse error line 2: unknown instruction: EOF",
    f"{NEW}dockerfile parse error on line 3: unknown instruction: EOF",
    f"{NEW}busybox:9.99: failed to resolve source metadata for "
    "docker.io/library/busybox:9.99: docker.io/library/busybox:9.99: not found",
    f"{NEW}the Dockerfile cannot be empty",
    f"{NEW}nonesuch/private: failed to resolve source metadata for docker.io/nonesuch/private: "
    "pull access denied, repository does not exist or may require authorization",
]
THE_PLATFORMS = [
    f'{OLD}failed to do request: Head "https://registry-1.docker.io/v2/": dial tcp: lookup '
    "registry-1.docker.io: no such host",
    f"{NEW}python:3.12: failed to resolve source metadata for docker.io/library/python:3.12: "
    'failed to do request: Head "https://registry-1.docker.io/v2/": EOF',
    f"{NEW}python:3.12: failed to copy: httpReadSeeker: failed open: unexpected status code "
    "https://registry-1.docker.io/v2/: 429 Too Many Requests - Server message: toomanyrequests",
    f"{NEW}failed to copy files: copy file range failed: no space left on device",
    f"{NEW}failed to receive status: rpc error: code = Unavailable desc = error reading from "
    "server: EOF",
    f"{NEW}Canceled: context canceled",
    "executor failed running [/bin/sh -c true]: network bridge not found",
    "Cannot connect to the Docker daemon at unix:///x.sock. Is the docker daemon running?",
    'ERROR: error during connect: Get "http://x/_ping": read: connection reset by peer',
]


@pytest.mark.parametrize("word", THE_AUTHORS)
def test_the_authors_words_never_look_like_the_platforms_trouble(word: str) -> None:
    assert isinstance(failure("p", f"#1 0.1 hello\n{word}\n"), BuildError)


@pytest.mark.parametrize("word", THE_PLATFORMS)
def test_trouble_is_not_blamed_on_the_author(word: str) -> None:
    assert isinstance(failure("p", f"#1 0.1 hello\n{word}\n"), EngineError)


def test_what_a_step_writes_is_not_the_builders_word() -> None:
    log = (
        "#5 [2/2] RUN sh evil.sh\n#5 0.101 a\rERROR: dial tcp\n#5 0.102 ERROR: i/o timeout\n"
        "#5 ERROR: process did not complete\n------\n > [2/2] RUN sh evil.sh:\n"
        "0.102 ERROR: i/o timeout\n------\nDockerfile:2\n   2 | >>> RUN sh evil.sh\n"
        f'{NEW}process "/bin/sh -c sh evil.sh" did not complete successfully: exit code: 1\n'
        "\nView build details: docker-desktop://dashboard/build/x\n"
    )
    error = failure("p", log)
    assert isinstance(error, BuildError)
    assert str(error).endswith(
        '"/bin/sh -c sh evil.sh" did not complete successfully: exit code: 1'
    )


def test_the_log_reads_like_what_was_said() -> None:
    log = (
        "#1 [internal] load build definition from Dockerfile\n"
        f"#1 sha256:{'0' * 64}\n#1 transferring dockerfile: 31B done\n#1 DONE 0.1s\n\n"
        "#4 [1/2] FROM docker.io/library/busybox:1.35.0\n#4 CACHED\n\n"
        "#5 [2/2] RUN make\n#5 0.123 DONE 3\n#5 12.3   indented\n#5 13.0\n#5 ERROR: exit code: 2\n"
    )
    assert readable(log).split("\n") == [
        "[1/2] FROM docker.io/library/busybox:1.35.0",
        "[2/2] RUN make",
        "DONE 3",
        "  indented",
        "13.0",
        "ERROR: exit code: 2",
    ]
    assert len(readable("x" * 100_000)) == 4000
