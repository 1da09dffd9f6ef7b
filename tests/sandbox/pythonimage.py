"""An image with pytest, for verifiers that run in one: the tests' own pytest, copied into it."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

# The folder where the image's own Python looks for packages, whoever built it.
PURELIB = "$(python3 -c 'import sysconfig; print(sysconfig.get_path(\"purelib\"))')"
_SCRIPT = "#!/usr/local/bin/python3\\nimport sys, pytest\\nsys.exit(pytest.console_main())\\n"
DOCKERFILE = f"""\
FROM python:3.11-slim-bookworm
WORKDIR /root
COPY site /tmp/site
RUN cp -r /tmp/site/. "{PURELIB}" && rm -r /tmp/site && \\
    python3 -m compileall -q "{PURELIB}" && \\
    printf '{_SCRIPT}' > /usr/local/bin/pytest && chmod +x /usr/local/bin/pytest
"""
_DISTRIBUTIONS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
# Pygments is megabytes of lexers, of which pytest imports two.
_LEXERS = {"__init__.py", "_mapping.py", "diff.py", "python.py"}


def site() -> dict[str, bytes]:
    """The files of pytest and of what it imports, for a package's environment."""
    return {
        f"environment/site/{path}": Path(str(path.locate())).read_bytes()
        for name in _DISTRIBUTIONS
        for path in distribution(name).files or ()
        if ".." not in path.parts
        and (path.suffix == ".py" or path.name in ("METADATA", "entry_points.txt"))
        and (path.parent.name not in ("lexers", "styles") or path.name in _LEXERS | {"default.py"})
    }
