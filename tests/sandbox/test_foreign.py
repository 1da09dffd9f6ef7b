"""What a Dockerfile may not take from the engine that builds it, without Docker."""

from __future__ import annotations

import pytest

from arena.sandbox.foreign import foreign

BASE = "FROM busybox:1.35.0\n"


@pytest.mark.parametrize(
    "dockerfile",
    [
        "FROM posttrain-arena/environment:0123456789abcdef01234567\n",
        "FROM docker.io/posttrain-arena/environment:x\n",
        "ARG IMAGE=posttrain-arena/environment:x\nFROM ${IMAGE}\n",
        "FROM 0123456789ab\n",
        f"FROM sha256:{64 * 'a'} AS other\n",
        f"{BASE}COPY --from=0123456789ab /sealed /\n",
        f"{BASE}RUN --mount=type=bind,from=posttrain-arena/environment:x,target=/x cat /x/sealed\n",
        f"{BASE}RUN --mount=type=cache,target=/c --mount=from=0123456789ab,target=/x true\n",
    ],
)
def test_an_image_of_the_engine_is_refused_with_its_line(dockerfile: str) -> None:
    assert "names an image of this engine" in str(foreign(dockerfile, has_network=True))


@pytest.mark.parametrize(
    "line",
    [
        "ADD http://127.0.0.1:8000/x /x",
        "ADD a https://example.org/b /x/",
        'ADD ["git@example.org:a/b.git", "/x"]',
        "ADD --checksum=sha256:0 https://example.org/b /x",
        "ARG U=http://127.0.0.1\nADD $U /x",
    ],
)
def test_an_address_is_refused_where_no_network_is_declared(line: str) -> None:
    assert "network" in str(foreign(f"{BASE}{line}\n", has_network=False))
    assert foreign(f"{BASE}{line}\n", has_network=True) is None


def test_what_a_registry_and_the_environment_have_is_taken() -> None:
    dockerfile = (
        "FROM python:3.12-slim@sha256:" + 64 * "a" + " AS build\nADD data.tar.gz /data\n"
        "FROM debian:bookworm\nCOPY --from=build /x /x\nCOPY --from=0 /y /y\n"
        "RUN --mount=type=bind,from=build,target=/b true\n"
    )
    assert foreign(dockerfile, has_network=False) is None
