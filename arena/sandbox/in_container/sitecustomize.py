"""Runs inside a verifier's container, before whatever Python is asked to do there.

`python -m pytest` looks for modules first in the folder that it is started in, which is the
agent's: a json.py there would run inside the checks. Where Python runs checks, a module that the
package or the image has is therefore theirs, and only what neither has is looked for elsewhere.
Programs of the agent that the checks start are left alone. Written for any Python 3.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_OF_PACKAGE = ("/verifier", "/tests")
_RUNNERS = ("pytest", "py.test", "unittest")
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


def _runs_checks() -> bool:
    words = getattr(sys, "orig_argv", ())[1:]
    return any(
        word.startswith(_OF_PACKAGE) or word.rpartition("/")[2] in _RUNNERS for word in words
    )


def _run_the_images_own() -> None:
    spec = PathFinder.find_spec("sitecustomize", _OF_IMAGE)
    if spec and spec.loader:
        spec.loader.exec_module(module_from_spec(spec))


if _runs_checks():
    sys.meta_path.insert(sys.meta_path.index(PathFinder), PackageAndImageFirst)
_run_the_images_own()
