"""Runs inside a verifier's container, before whatever Python is asked to do there.

`python -m pytest` looks for modules first in the folder that it is started in, which is the
agent's: a json.py there would run inside the checks. Unless Python runs a script of the agent's,
a module that the package or the image has is therefore theirs, and only what neither has is looked
for elsewhere. Written for any Python 3.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_OF_PACKAGE = ("/verifier", "/tests")
_OF_SYSTEM = ("/usr/", "/bin/", "/opt/")
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
_SET = os.environ.get("PYTHONPATH", "").split(os.pathsep)
_OF_IMAGE = [place for place in sys.path if place not in _SET]


class PackageAndImageFirst:
    """Finds modules where the agent did not write."""

    @staticmethod
    def find_spec(name: str, path: object = None, _target: object = None):  # type: ignore[no-untyped-def]
        if path is not None:
            return None  # part of a package that was found already
        of_package = [place for place in sys.path if place.startswith(_OF_PACKAGE)]
        return PathFinder.find_spec(name, of_package + _OF_IMAGE)


def _script() -> str:
    """The script that Python was asked to run; empty for -c, -m and what comes over its input."""
    words = iter(getattr(sys, "orig_argv", ())[1:])
    for word in words:
        if word in _WITH_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return str(word)
        elif word == "-" or (not word.startswith("--") and ("c" in word or "m" in word)):
            return ""
    return ""


def _run_the_images_own() -> None:
    spec = PathFinder.find_spec("sitecustomize", _OF_IMAGE)
    if spec and spec.loader:
        spec.loader.exec_module(module_from_spec(spec))


_ran = _script()
if not _ran or _ran.startswith(_OF_PACKAGE + _OF_SYSTEM):
    sys.meta_path.insert(sys.meta_path.index(PathFinder), PackageAndImageFirst)
_run_the_images_own()
