"""Whose fault a failed build is, in the words of BuildKit's versions.

What the engine of the tests says is tried in test_builds.py; here are those that are not at hand.
"""

from __future__ import annotations

import pytest

from arena.sandbox.buildlog import failure, readable
from arena.sandbox.errors import BuildError, EngineError, RegistryTrouble
from arena.sandbox.registries import own_registries

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


# Each with what the Dockerfile names: the engine of the tests said the first five, BuildKit of
# later engines the others.
OWN = [
    (
        "FROM registry.example.com/x:1",
        f'{OLD}failed to do request: Head "https://registry.example.com/v2/x/manifests/1": '
        "dial tcp: lookup registry.example.com on 10.1.1.1:53: no such host",
    ),
    (
        "FROM 127.0.0.1:5503/x/y:1",
        f"{OLD}pulling from host 127.0.0.1:5503 failed with status code [manifests 1]: "
        "503 Service Unavailable",
    ),
    (
        "FROM busybox:1\nCOPY --from=127.0.0.1:1/x:1 /v /v",
        'failed to load cache key: failed to do request: Head "http://127.0.0.1:1/v2/x/manifests/1"'
        ": dial tcp 127.0.0.1:1: connect: connection refused",
    ),
    (
        "FROM busybox:1\nADD http://x.org/v /v",
        "failed to load cache key: invalid response status 503",
    ),
    (
        "FROM busybox:1\nARG A\nADD $A /v",
        'failed to load cache key: Get "http://x.org/v": dial tcp: lookup x.org: server misbehaving',
    ),
    (
        "FROM ghcr.io/x/y:1",
        f"{NEW}ghcr.io/x/y:1: failed to resolve source metadata for ghcr.io/x/y:1: "
        "unexpected status from HEAD request to https://ghcr.io/v2/x/y/manifests/1: "
        "429 Too Many Requests",
    ),
    (
        "ARG BASE=evil.org/x\nFROM $BASE",
        f"{NEWEST}evil.org/x: failed to resolve source metadata for evil.org/x: failed to do "
        'request: Head "https://evil.org/v2/x/manifests/latest": dial tcp 1.2.3.4:443: i/o timeout',
    ),
    (
        "FROM evil.org/x",
        f"{NEW}failed to copy: httpReadSeeker: failed open: unexpected status code "
        "https://elsewhere.evil.org/blob: 500 Internal Server Error - Server message: "
        "no space left on device: context canceled",
    ),
]


@pytest.mark.parametrize(("dockerfile", "word"), OWN)
def test_trouble_with_what_the_author_named_is_told_apart(dockerfile: str, word: str) -> None:
    assert isinstance(failure("p", f"{word}\n", own_registries(dockerfile)), RegistryTrouble)


@pytest.mark.parametrize(
    "word",
    [
        f"{OLD}127.0.0.1:5404/x/y:1: not found",
        f"{OLD}pulling from host evil.org failed with status code [manifests 1]: 403 Forbidden",
        f"{NEW}evil.org/x: failed to resolve source metadata for evil.org/x: failed to authorize: "
        "failed to fetch anonymous token: unexpected status from GET request to "
        "https://evil.org/token?scope=repository%3Ax%3Apull: 403 Forbidden",
        "failed to load cache key: invalid response status 404",
        'failed to load cache key: Get "https://evil.org/v": tls: first record does not look like '
        "a TLS handshake",
        f'{OLD}failed to do request: Head "https://registry.invalid/v2/x/manifests/1": '
        "dial tcp: lookup registry.invalid on 10.1.1.1:53: no such host",
    ],
)
def test_a_clear_answer_about_what_the_author_named_is_the_authors(word: str) -> None:
    named = frozenset({"evil.org", "registry.invalid"})
    assert isinstance(failure("p", f"{word}\n", named), BuildError)


@pytest.mark.parametrize("word", THE_PLATFORMS)
def test_another_registry_in_the_dockerfile_takes_no_blame(word: str) -> None:
    error = failure("p", f"{word}\n", frozenset({"evil.org"}))
    assert isinstance(error, EngineError)
    assert not isinstance(error, RegistryTrouble)


@pytest.mark.parametrize(
    ("dockerfile", "hosts"),
    [
        ("FROM busybox:1\nFROM library/python\nFROM docker.io/library/x\nADD a https://b /", {"b"}),
        (
            "FROM ghcr.io/a AS b\nFROM localhost/c\nFROM b\nCOPY --from=d:5/e x y",
            {"ghcr.io", "localhost", "d:5"},
        ),
        ("FROM x\nRUN --mount=type=bind,from=q.io/z,target=/z true", {"q.io"}),
        ("FROM x\nADD git@g.org:a/b.git https://u:p@h.org:8/x /", {"g.org", "h.org:8"}),
        ("FROM x\nADD http://[::1 /", {"http://[::1"}),
    ],
)
def test_what_a_dockerfile_names_beside_docker_hub(dockerfile: str, hosts: set[str]) -> None:
    assert own_registries(dockerfile) == hosts
