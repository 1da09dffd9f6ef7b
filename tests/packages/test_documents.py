"""Markdown sections and Dockerfiles, as their own readers read them."""

import pytest

from arena.packages.dockerfile import copy_sources, parse_dockerfile
from arena.packages.document import DocumentError, parse_document, prompt_of


def test_a_heading_inside_a_code_fence_is_text() -> None:
    body = "## prompt\n\nDo:\n\n```\n## role:x\n```\n\n## role:judge\n\nJudge.\n"
    document = parse_document(f"---\na: 1\n---\n{body}")
    assert list(document.sections) == ["prompt", "role:judge"]
    assert prompt_of(document).endswith("```")


def test_without_reserved_headings_the_body_is_the_prompt() -> None:
    assert prompt_of(parse_document("---\na: 1\n---\n# Do\n\n## Details\n\nit\n")) == (
        "# Do\n\n## Details\n\nit"
    )


def test_a_reserved_heading_twice_is_refused_at_its_line() -> None:
    with pytest.raises(DocumentError) as caught:
        parse_document("---\na: 1\n---\n## prompt\nx\n## prompt\ny\n")
    assert caught.value.line == 6


DOCKERFILE = """\
# escape=`
# a comment
ARG BASE=busybox
FROM $BASE AS first
RUN echo `
  # inside
  two
COPY --chown=1:1 a.txt b/ /x/
COPY --from=first /x /y
COPY ["with space.txt", "/z"]
RUN <<EOF
COPY nothing /
EOF
ADD https://example.org/x /x
"""


def test_a_dockerfile_is_read_as_docker_reads_it() -> None:
    instructions, problems = parse_dockerfile(DOCKERFILE)
    assert problems == []
    assert [(i.name, i.line) for i in instructions] == [
        ("ARG", 3),
        ("FROM", 4),
        ("RUN", 5),
        ("COPY", 8),
        ("COPY", 9),
        ("COPY", 10),
        ("RUN", 11),
        ("ADD", 14),
    ]
    copies = [copy_sources(i) for i in instructions if i.name in {"COPY", "ADD"}]
    assert copies == [["a.txt", "b/"], [], ["with space.txt"], []]
