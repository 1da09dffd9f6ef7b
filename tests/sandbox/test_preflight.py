"""What an engine is too old for: said beforehand where a build would fail, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.sandbox import BuildError, Sandbox
from arena.sandbox.preflight import unbuildable
from tests.sandbox.packages import write_package

FROM = "FROM busybox:1.35.0\n"
NEEDS: dict[str, tuple[str, int, int, str]] = {
    "RUN heredoc": ("RUN <<EOF\ntrue\nEOF\n", 23, 2, "a here-document"),
    "COPY heredoc": ("\nCOPY <<-'A B' /x\n\thi\nA B\n", 23, 3, "a here-document"),
    "heredoc of a continued line": ("RUN cat \\\n # text\n <<EOF\nEOF\n", 23, 2, "a here-document"),
    "ONBUILD heredoc": ("ONBUILD RUN <<EOF\ntrue\nEOF\n", 23, 2, "a here-document"),
    "link": ("COPY --chmod=644 --link Dockerfile /x\n", 23, 2, "COPY --link"),
    "network": ("RUN --network=none true\n", 23, 2, "RUN --network"),
    "start-interval": (
        "HEALTHCHECK --start-interval=5s CMD true\n",
        25,
        2,
        "HEALTHCHECK --start-interval",
    ),
}
NOTHING = {
    "mounts and modes": "RUN --mount=type=cache,target=/c true\nCOPY --chmod=600 Dockerfile /x\n",
    "text in quotes": "RUN echo 'a <<EOF' \"<<EOF\"\n",
    "text of a shell": "RUN echo $((1<<2)) --link\n",
    "JSON": 'RUN ["echo", "<<EOF", "--link"]\n',
    "a comment": "# RUN <<EOF\nRUN true\n",
}


@pytest.mark.parametrize("case", NEEDS)
def test_it_names_the_line_and_both_versions(case: str) -> None:
    text, version, line, what = NEEDS[case]
    for engine in ("20.10.24+dfsg1", "19.3.1", f"{version - 1}.0.9"):
        said = unbuildable(FROM + text, engine)
        assert said == (
            f"environment/Dockerfile, line {line}: {what} needs a Docker engine of version "
            f"{version} or newer; this one is {engine}"
        )
    for engine in (f"{version}.0.0", f"{version + 5}.1.0-rc.1", "library-import", "0.0.0-2024", ""):
        assert unbuildable(FROM + text, engine) is None


@pytest.mark.docker
@pytest.mark.parametrize("case", [*NEEDS, *NOTHING])
def test_it_says_what_the_engine_does(sandbox: Sandbox, tmp_path: Path, case: str) -> None:
    text = NEEDS[case][0] if case in NEEDS else NOTHING[case]
    package = write_package(tmp_path / "p", dockerfile=FROM + text)
    if sandbox.unbuildable(package) is None:
        sandbox.build(package)
    else:
        with pytest.raises(BuildError):
            sandbox.build(package)
