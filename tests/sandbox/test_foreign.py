"""What a Dockerfile may not take from the engine that builds it, without Docker."""

from __future__ import annotations

import re

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
        "FROM index.docker.io/posttrain-arena/environment:x\n",
        "FROM Index.Docker.IO/Posttrain-Arena/environment:x\n",
        "FROM --platform=linux/amd64 posttrain-arena/environment:x\n",
        "FROM posttrain-\\\narena/environment:x\n",
        "ARG A=posttrain-arena B=environment:x\nFROM $A/${B}\n",
        'ARG A="posttrain-arena/environment:x"\nFROM ${A:-busybox}\n',
        "ARG A=\nFROM ${A:-posttrain-arena/environment:x}\n",
        f"{BASE}ONBUILD COPY --from=posttrain-arena/environment:x /sealed /\n",
        f"{BASE}ONBUILD RUN --mount=from=posttrain-arena/environment:x,target=/x true\n",
        f"{BASE}RUN --mount=type=bind,FROM=posttrain-arena/environment:x,target=/x true\n",
        f"{BASE}COPY --chown=0 --from=posttrain-arena/environment:x /sealed /\n",
        f"{BASE}COPY --from=0123456789ab /sealed /\n",
        f"{BASE}RUN --mount=type=bind,from=posttrain-arena/environment:x,target=/x cat /x/sealed\n",
        f"{BASE}RUN --mount=type=cache,target=/c --mount=from=0123456789ab,target=/x true\n",
    ],
)
def test_an_image_of_the_engine_is_refused_with_its_line(dockerfile: str) -> None:
    assert "names an image of this engine" in str(foreign(dockerfile, has_network=True))


@pytest.mark.parametrize(
    "dockerfile",
    [
        "ARG A=posttrain-arena\nARG B=$A/environment:x\nFROM $B\n",
        "ARG A=x\nFROM ${A:+posttrain-arena/environment:x}\n",
        "ARG A=x\nFROM ${A+posttrain-arena/environment:x}\n",
        "ARG A=\nFROM posttrain-arena${A-nothing}/environment:x\n",
        "ARG A=x\nARG A\nFROM posttrain-arena${A}/environment:x\n",
        "ARG TARGETVARIANT=x\nFROM posttrain-arena$TARGETVARIANT/environment:x\n",
        "ARG A=xposttrain-arena/environment:x\nFROM ${A#x}\n",
        "FROM ${A}\n",
        'FROM "posttrain-arena/environment:x"\n',
        "FROM post'train-arena'/environment:x\n",
        "FROM posttrain-ar\\ena/environment:x\n",
        "# escape=`\nFROM posttrain-ar`ena/environment:x\n",
        f'{BASE}COPY "--from=posttrain-arena/environment:x" /sealed /\n'.replace('"--', '--"'),
        f'{BASE}COPY --from="posttrain-arena/environment:x" /sealed /\n',
        f"{BASE}COPY --from=$A /sealed /\n",
        f'{BASE}RUN --mount=type=bind,"from=posttrain-arena/environment:x",target=/x true\n',
        f'{BASE}RUN --mount="type=bind, from=posttrain-arena/environment:x" true\n',
        f"{BASE}RUN --mount=type=bind,from=posttrain-ar\\ena/environment:x,target=/x true\n",
    ],
)
def test_a_reference_that_is_not_plain_is_refused_with_its_line(dockerfile: str) -> None:
    assert re.match(r"line \d+: .* does not name an image plainly", str(foreign(dockerfile, True)))


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
        "RUN --network=none echo \"a\\b\" && sh -c 'true'\n"
    )
    assert foreign(dockerfile, has_network=False) is None


def test_variables_with_defaults_are_taken() -> None:
    dockerfile = (
        'ARG VERSION="3.12" KIND=slim\nARG NAME=python\n'
        "FROM --platform=$BUILDPLATFORM ${NAME}:${VERSION}-$KIND AS build\n"
        "ARG TARGETARCH\nFROM ${NAME:-debian}:3.12\nCOPY --from=build /x /x\n"
    )
    assert foreign(dockerfile, has_network=False) is None


def test_lines_of_a_here_document_are_instructions_to_an_old_engine() -> None:
    hidden = f"{BASE}RUN cat <<END\nFROM posttrain-arena/environment:x\nEND\n"
    assert foreign(hidden, has_network=False) is None
    said = foreign(hidden, has_network=False, has_heredocs=False)
    assert "below line 2, line 1: 'posttrain-arena/environment:x' names" in str(said)
