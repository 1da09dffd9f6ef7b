"""Which of an agent's files may stand where the verifier runs.

The verifier's container is the image with the agent's files in it. Its verdict must come from the
image's own programs and the package's own checks, so what would reach those before they run stays
behind: settings that programs start with, programs and modules in place of the image's.
A path that a package declares as an artifact by its own name is the agent's work, and crosses.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterable, Sequence
from enum import Enum

from arena.sandbox.images import Image
from arena.sandbox.lookups import Lookups

# The arena's own, and the system's: never an agent's work, whatever a package declares.
NEVER_CARRIED = ("/verifier", "/tests", "/oracle", "/solution", "/logs", "/dev", "/proc", "/sys")
STAGE = "/.arena-carried"

_NAMING = ("BASH_ENV", "ENV", "LD_PRELOAD", "PYTHONSTARTUP")
_SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
# What programs read from a home when they start, and may take commands or code from.
_SETTINGS = re.compile(
    r"\.(bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|kshrc"
    r"|mkshrc|shrc|shinit|pythonrc\.py|perldb|irbrc|pryrc|rubyopt|Rprofile|Renviron|octaverc"
    r"|sqliterc|psqlrc|my\.cnf|curlrc|wgetrc|gdbinit|lldbinit|vimrc|exrc|nanorc|screenrc|tmux\.conf"
    r"|npmrc|yarnrc|pip|gitconfig|hgrc|node_modules|node_libraries|julia/config|jq|duckdbrc"
    r"|rspec|proverc|ipython|guile|sbclrc|ghci|ocamlinit|parallel)(/.*)?"
    r"|\.config/(fish|sqlite3|pip|uv|git|gdb|julia|python|go|duckdb|rspec)(/.*)?"
)
# Above settings; elsewhere such a folder is anybody's, a link in its place would bring in others.
_ABOVE_SETTINGS = (".config", ".julia")
_ABOVE_SYSTEM_SETTINGS = ("/etc/ssl", "/etc/pki", "/etc/pki/tls")
_SYSTEM_SETTINGS = re.compile(
    r"/etc/(profile|profile\.d|bash\.bashrc|bashrc|environment|zsh|zshrc|zshenv|inputrc"
    r"|alternatives|ld\.so\.[^/]*|ld-musl-[^/]*|python[0-9.]*|perl|php[^/]*|R|nsswitch\.conf"
    r"|pam\.d|pam\.conf|security|sudo\.conf|sudoers|sudoers\.d|gitconfig|pip\.conf|npmrc|psqlrc"
    r"|curlrc|wgetrc|gdb|apt|(ssl|pki/tls)/openssl\.cnf)(/.*)?"
)
# What the engine itself writes in every container, and what programs look for from above.
_OF_THE_CONTAINER = re.compile(
    r"/(\.dockerenv|(usr/)?sbin/docker-init|\.arena-[^/]*(/.*)?|etc/(hosts|hostname|resolv\.conf|mtab)"
    r"|(conftest\.py|pyproject\.toml|tox\.ini|setup\.cfg|\.?pytest\.ini)|node_modules(/.*)?)"
)
_PYTHON_START = re.compile(
    r"(sitecustomize|usercustomize)(\..*)?|python[0-9.]*(\._pth|\.zip)|pybuilddir\.txt"
)
# Where a Python looks for its library first, from the folder that it is in.
_BESIDE_PYTHON = re.compile(r"lib(32|64)?/python[0-9.]*(/.*)?|Modules/Setup\.local")
_ABOVE_LIBRARY = {"lib", "lib32", "lib64", "Modules"}
_USERS = "/etc/passwd"
# The language's own on whatever system, and what its library asks for elsewhere.
_PYTHONS_OWN = sys.stdlib_module_names | {"java", "org", "vms_lib", "_curses_panel"}
_LIBRARY = re.compile(r"(/usr(/local)?)?/lib(32|64|x32|exec)?(/.*)?")
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_LOADED = re.compile(r"libnss_[^/]*|.*\.so(\.[^/]*)?")
# Code that an image's programs read where no library is; a site's pages are there as well.
_SHARED_CODE = re.compile(
    r"/usr(/local)?/share/(R|awk|git-core|gradle|guile|java|javascript|julia|lua|maven[^/]*|nodejs"
    r"|octave|perl[^/]*|php|python[^/]*|tcltk)(/.*)?"
)
_HOOKS = re.compile(r"/usr(/local)?/share/git-core/templates(/.*)?")
_HOME = re.compile(r"/root|/home/[^/]+")


class Passage(Enum):
    """Whether a path crosses: always, never, or unless the image has a program, a library, or a
    module of Python that it would stand in for, or it is a list of users with roots of its own."""

    FREE = "free"
    NEVER = "never"
    UNLESS_PROGRAM = "program"
    UNLESS_LIBRARY = "library"
    UNLESS_MODULE = "module"
    UNLESS_ROOTS = "roots"


class Guard:
    """Judges paths for one image, of which `lookups` is known where its programs look."""

    def __init__(
        self, image: Image, declared: Sequence[str] = (), lookups: Lookups | None = None
    ) -> None:
        self.image = image
        lookups = lookups or Lookups()
        self._programs = _folders(
            (*image.env.get("PATH", "").split(":"), *_SYSTEM_PATH, *lookups.programs)
        )
        self._libraries = _folders(image.env.get("LD_LIBRARY_PATH", "").split(":"))
        self._packages = _folders(lookups.packages)
        # Beside a Python, or above it, such a file says that its library is elsewhere.
        beside = {*self._programs, *map(posixpath.dirname, self._programs)}
        self._closed = _folders((*lookups.closed, *(f"{folder}/pyvenv.cfg" for folder in beside)))
        self._homes = _folders((home_of(image), *lookups.homes))
        self._at_the_root = not home_of(image).strip("/")
        # An image may name such files by itself: ENV BASH_ENV=/root/setup.sh.
        self._named = {image.env[key] for key in _NAMING if image.env.get(key)}
        settings = (f"{home}/{name}" for home in self._homes for name in _ABOVE_SETTINGS)
        self._above = _with_ancestors(
            (*self._programs, *self._packages, *self._closed, *self._homes, *_LIBRARIES, *settings)
        ) | {*_ABOVE_SYSTEM_SETTINGS}
        self._declared: tuple[str, ...] = ()
        self._declared = tuple(
            path
            for path in declared
            if self.judge(path) is not Passage.FREE and path not in self._above
        )

    @property
    def program_folders(self) -> list[str]:
        """The folders in which programs are looked for, in any order."""
        return sorted(self._programs)

    @property
    def package_folders(self) -> list[str]:
        """The folders in which Python's packages are looked for, in any order."""
        return sorted(self._packages)

    @property
    def module_folders(self) -> list[str]:
        """The folders of modules that are the image's, in any order."""
        return sorted(self._packages | self._closed)

    def judge(self, path: str, is_folder: bool = False) -> Passage:
        """What holds for the agent's version of a path."""
        if is_inside(path, *self._declared):
            return Passage.FREE
        if self._starts_something(path):
            return Passage.NEVER
        return Passage.FREE if is_folder else self._judge_file(path)

    def _judge_file(self, path: str) -> Passage:
        if path in self._above:
            return Passage.NEVER  # a link in a folder's place
        folder, name = posixpath.split(path)
        if path == _USERS:
            return Passage.UNLESS_ROOTS
        if folder in self._programs:
            return Passage.NEVER if name in _ABOVE_LIBRARY else Passage.UNLESS_PROGRAM
        if packages := _within(path, self._packages):
            return _of_python(path[len(packages) + 1 :])
        if _within(path, self._closed):
            return Passage.NEVER
        if is_inside(folder, *self._libraries):
            return Passage.UNLESS_LIBRARY
        if _LIBRARY.fullmatch(folder) and (_LOADED.fullmatch(name) or "/gconv" in folder):
            return Passage.UNLESS_LIBRARY if name.startswith("lib") else Passage.NEVER
        return Passage.FREE

    def is_the_images(self, path: str) -> bool:
        """Whether the image's own file at this path stands, whatever became of it."""
        if is_inside(path, *self._declared):
            return False
        return bool(
            path in self._programs
            or posixpath.dirname(path) in self._programs
            or _within(path, self._packages)
            or _within(path, self._closed)
            or _LIBRARY.fullmatch(path)
            or _SHARED_CODE.fullmatch(path)
        )

    def module(self, path: str) -> tuple[str, str]:
        """The folder of packages that a path is in, and the path from there on."""
        folder = _within(path, self._packages)
        return folder, path[len(folder) + 1 :]

    def _starts_something(self, path: str) -> bool:
        name = posixpath.basename(path)
        return (
            path in self._named
            or self._is_a_setting(path)
            or self._is_beside_python(path)
            or bool(_HOOKS.fullmatch(path))
            or bool(_SYSTEM_SETTINGS.fullmatch(path))
            or bool(_OF_THE_CONTAINER.fullmatch(path) or _PYTHON_START.fullmatch(name))
        )

    def _is_beside_python(self, path: str) -> bool:
        folder = _within(path, self._programs)
        return bool(folder and _BESIDE_PYTHON.fullmatch(path[len(folder) + 1 :]))

    def _is_a_setting(self, path: str) -> bool:
        """Whether a program reads it at its start, from the home of whoever it may run as."""
        known, usual = _within(path, self._homes), _HOME.match(path)
        homes = {known or None, usual.group() if usual else None, "" if self._at_the_root else None}
        return any(_SETTINGS.fullmatch(path[len(home) + 1 :]) for home in homes if home is not None)


def home_of(image: Image) -> str:
    """The home in which the verifier runs: the image's, where it names one."""
    home = image.env.get("HOME", "")
    return home if home.startswith("/") else "/root"


def is_inside(path: str, *folders: str) -> bool:
    """Whether a path is one of these, or below one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _of_python(rest: str) -> Passage:
    """A path in a folder of packages: new ones may be added, the language stays the image's."""
    top = rest.partition("/")[0].partition(".")[0]
    if top in _PYTHONS_OWN or rest.endswith((".pth", ".pyc")):
        return Passage.NEVER
    return Passage.UNLESS_MODULE


def _folders(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(posixpath.normpath(path) for path in paths if path.strip("/"))


def _with_ancestors(paths: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for path in paths:
        while path.strip("/") and path not in found:
            found.add(path)
            path = posixpath.dirname(path)
    return frozenset(found)


def _within(path: str, folders: frozenset[str]) -> str:
    """The deepest of these folders that a path is, or is in; empty where it is in none."""
    while path.strip("/"):
        if path in folders:
            return path
        path = posixpath.dirname(path)
    return ""
