"""Which of an agent's files may stand where the verifier runs.

The verifier's container is the image with the agent's files in it. Its verdict must come from the
image's own programs and the package's own checks, so what would reach those before they run stays
behind: start-up files of shells and interpreters, programs and modules in place of the image's.
A path that a package declares as an artifact by its own name is the agent's work, and crosses.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from enum import Enum

from arena.sandbox.images import Image

# The arena's own, and the system's: never an agent's work, whatever a package declares.
NEVER_CARRIED = ("/verifier", "/tests", "/oracle", "/solution", "/logs", "/dev", "/proc", "/sys")
STAGE = "/.arena-carried"

_NAMING = ("BASH_ENV", "ENV", "LD_PRELOAD", "PYTHONSTARTUP")
_SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_SHELL_START = re.compile(
    r"(\.(bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|kshrc"
    r"|mkshrc|shrc|shinit|pythonrc\.py)|\.config/fish(/.*)?)"
)
_SYSTEM_START = re.compile(
    r"/etc/(profile|profile\.d|bash\.bashrc|bashrc|environment|zsh|zshrc|zshenv|inputrc"
    r"|alternatives|ld\.so\.[^/]*|python[0-9.]*)(/.*)?"
)
# What the engine itself writes in every container, and configuration that pytest finds from above.
_OF_THE_CONTAINER = re.compile(
    r"/(\.dockerenv|\.arena-[^/]*(/.*)?|etc/(hosts|hostname|resolv\.conf|mtab)"
    r"|(conftest\.py|pyproject\.toml|tox\.ini|setup\.cfg|\.?pytest\.ini))"
)
_PYTHON_START = re.compile(r"(sitecustomize|usercustomize)(\..*)?|python[0-9.]*(\._pth|\.zip)")
_LIBRARY = re.compile(r"(/usr(/local)?)?/lib(32|64|x32|exec)?(/.*)?")
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_HOME = re.compile(r"/root|/home/[^/]+")
# Wherever Perl looks for a module: each folder stands before others.
_PERL = re.compile(
    r"(/etc/perl|/usr/local/lib/site_perl|/usr/local/(lib/[^/]+|share)/perl/[^/]+"
    r"|/usr/share/perl5|/usr/share/perl/[^/]+|/usr/lib/[^/]+/(perl-base|perl5?/[0-9][^/]*)"
    r"|/usr/local/lib/perl5(/(site|vendor)_perl)?(/[0-9][^/]*(/[^/]+-[^/]+)?)?)/(?P<rest>.+)"
)
_PYTHON_TREE = re.compile(r".*/lib(?:32|64)?/(?:python3[^/]*|pypy3[^/]*)/(?P<rest>.+)")
_PACKAGES = re.compile(r"(?P<folder>(?:.*/)?(?:site|dist)-packages)/(?P<rest>.+)")


class Passage(Enum):
    """Whether a path crosses: always, never, or unless the image has a program, a library, or a
    module of Python or Perl that it would stand in for."""

    FREE = "free"
    NEVER = "never"
    UNLESS_PROGRAM = "program"
    UNLESS_LIBRARY = "library"
    UNLESS_MODULE = "module"
    UNLESS_PERL = "perl"


class Guard:
    """Judges paths for one image."""

    def __init__(self, image: Image, declared: Sequence[str] = ()) -> None:
        of_image = image.env.get("PATH", "").split(":")
        self._programs = {posixpath.normpath(p) for p in (*of_image, *_SYSTEM_PATH) if p}
        libraries = image.env.get("LD_LIBRARY_PATH", "").split(":")
        self._libraries = {posixpath.normpath(p) for p in libraries if p}
        # An image may name such files by itself: ENV BASH_ENV=/root/setup.sh.
        self._named = {image.env[key] for key in _NAMING if image.env.get(key)}
        self._home = posixpath.normpath(home_of(image))
        self._declared: tuple[str, ...] = ()
        self._declared = tuple(
            path
            for path in declared
            if self.judge(path) is not Passage.FREE and not self._hides_programs(path)
        )

    @property
    def program_folders(self) -> list[str]:
        """The folders in which programs are looked for, in any order."""
        return sorted(self._programs)

    def judge(self, path: str, is_folder: bool = False) -> Passage:
        """What holds for the agent's version of a path."""
        if is_inside(path, *self._declared):
            return Passage.FREE
        if self._starts_something(path):
            return Passage.NEVER
        return Passage.FREE if is_folder else self._judge_file(path)

    def _judge_file(self, path: str) -> Passage:
        if self._hides_programs(path) or path in _LIBRARIES:
            return Passage.NEVER  # a link in a folder's place
        folder, name = posixpath.split(path)
        if folder in self._programs:
            return Passage.UNLESS_PROGRAM
        if is_inside(folder, *self._libraries):
            return Passage.UNLESS_LIBRARY
        tree = _PYTHON_TREE.fullmatch(path)
        if tree:
            return _of_python(tree["rest"], name)
        return Passage.UNLESS_PERL if _PERL.fullmatch(path) else Passage.FREE

    def is_the_images(self, path: str) -> bool:
        """Whether the image's own file at this path stands, whatever became of it."""
        if is_inside(path, *self._declared):
            return False
        folder = posixpath.dirname(path)
        in_tree = _PYTHON_TREE.fullmatch(path) or _LIBRARY.fullmatch(path)
        return folder in self._programs or path in self._programs or bool(in_tree)

    def _starts_something(self, path: str) -> bool:
        name = posixpath.basename(path)
        return (
            path in self._named
            or self._starts_a_shell(path)
            or bool(_SYSTEM_START.fullmatch(path))
            or bool(_OF_THE_CONTAINER.fullmatch(path) or _PYTHON_START.fullmatch(name))
        )

    def _starts_a_shell(self, path: str) -> bool:
        """Whether a shell reads it at its start, from the home of whoever it may run as."""
        other = _HOME.match(path)
        homes = (self._home, other.group() if other else self._home)
        return any(
            is_inside(path, home) and _SHELL_START.fullmatch(path[len(home.rstrip("/")) + 1 :])
            for home in homes
        )

    def _hides_programs(self, path: str) -> bool:
        """Whether programs are looked for in a folder at this path, or below it."""
        return any(is_inside(place, path) for place in self._programs)


def home_of(image: Image) -> str:
    """The home in which the verifier runs: the image's, where it names one."""
    home = image.env.get("HOME", "")
    return home if home.startswith("/") else "/root"


def _of_python(rest: str, name: str) -> Passage:
    """A path in Python's own tree: packages may be added, the language stays the image's."""
    packages = _PACKAGES.fullmatch(rest)
    if not packages or name.endswith((".pth", ".pyc")):
        return Passage.NEVER
    return Passage.UNLESS_MODULE


def looked_for(passage: Passage, path: str) -> str:
    """By what the image is searched for its own: a module's name, else the folder of the path."""
    if passage is Passage.UNLESS_MODULE and (found := _PACKAGES.fullmatch(path)):
        top = found["rest"].partition("/")[0].partition(".")[0]
        return f"{found['folder']}/{top}"
    if passage is Passage.UNLESS_PERL and (found := _PERL.fullmatch(path)):
        rest = found["rest"]
        # Perl takes List/Util.pmc before List/Util.pm.
        return rest.removesuffix("c") if rest.endswith(".pmc") else rest
    return posixpath.dirname(path)


def is_inside(path: str, *folders: str) -> bool:
    """Whether a path is one of these, or below one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
