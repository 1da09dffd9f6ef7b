"""Runs inside a verifier's container, before whatever Python is asked to do there.

`python -m pytest` looks for modules first in the folder that it is started in, which is the
agent's: a json.py there would run inside the checks. Unless Python runs a script of the agent's,
a module that the package or the image has is therefore theirs, and only what neither has is looked
for elsewhere; and code of the image that imports what may not be there (`import msvcrt`) finds no
module of the agent's, wherever it lies. Written for any Python 3.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_OF_PACKAGE = ("/verifier", "/tests")
_OF_SYSTEM = ("/usr/", "/bin/", "/opt/")
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
_SET = os.environ.get("PYTHONPATH", "").split(os.pathsep)
_OWNERS_FILE = "/.arena-python/owners"
_OF_IMAGE = [place for place in sys.path if place not in _SET]


class PackageAndImageFirst:
    """Finds modules where the agent did not write."""

    @staticmethod
    def find_spec(name: str, path: object = None, _target: object = None):  # type: ignore[no-untyped-def]
        if path is not None:
            return None  # part of a package that was found already
        of_package = [place for place in sys.path if place.startswith(_OF_PACKAGE)]
        spec = PathFinder.find_spec(name, of_package + _OF_IMAGE) or PathFinder.find_spec(name)
        if spec and _brings_the_agents(spec) and _the_image_imports():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return spec


def _read_owners() -> "dict[str, bool]":
    """Of paths, whether what lies there is the agent's (`+PATH`) or the image's (`-PATH`)."""
    try:
        with open(_OWNERS_FILE, encoding="utf-8", errors="surrogateescape") as file:
            return {line[1:]: line[0] == "+" for line in file.read().split("\0") if line}
    except OSError:
        return {}


def _is_the_agents(path: str) -> bool:
    """By the deepest path that is known."""
    place = os.path.abspath(path)
    while place not in _OWNERS and place != "/":
        place = os.path.dirname(place)
    return _OWNERS.get(place, False)


def _brings_the_agents(spec) -> bool:  # type: ignore[no-untyped-def]
    places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
    return any(map(_is_the_agents, places))


def _the_image_imports() -> bool:
    """Whether what imports is an import statement in a file of the image's.

    A call (`importlib.import_module`, `__import__`) brings in what somebody named.
    """
    frame = sys._getframe()
    while frame.f_back and frame.f_code.co_filename.startswith((__file__, "<frozen importlib")):
        frame = frame.f_back
    file = frame.f_code.co_filename
    of_image = file.startswith("<frozen ") or (
        file.startswith("/") and not file.startswith(_OF_PACKAGE) and not _is_the_agents(file)
    )
    if not of_image:
        return False
    import opcode

    return frame.f_code.co_code[frame.f_lasti] == opcode.opmap["IMPORT_NAME"]


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


_OWNERS = _read_owners()
_ran = _script()
if not _ran or _ran.startswith(_OF_PACKAGE + _OF_SYSTEM):
    sys.meta_path.insert(sys.meta_path.index(PathFinder), PackageAndImageFirst)
_run_the_images_own()
