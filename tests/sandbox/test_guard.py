"""Which of an agent's paths may stand where the verifier runs, without Docker."""

from __future__ import annotations

import pytest

from arena.sandbox.guard import Guard, Passage
from arena.sandbox.images import Image
from arena.sandbox.lookups import Lookups

IMAGE = Image(
    "id", env={"PATH": "/root/bin:/app/venv/bin:/usr/bin:/bin", "BASH_ENV": "/srv/start.sh"}
)
SITE = "/app/venv/lib/python3.11/site-packages"
LOOKUPS = Lookups(
    programs=("/app/venv/bin", "/srv/tools"),
    packages=(SITE, "/usr/lib/python3/dist-packages", "/usr/local/lib/python3.11/dist-packages"),
    closed=("/usr/lib/python3.11", "/usr/share/perl5", "/etc/perl", "/app/venv/pyvenv.cfg"),
    homes=("/var/lib/postgresql", "/root"),
)

NEVER = [
    "/root/.bashrc",
    "/home/ann/.profile",
    "/root/.config/fish/config.fish",
    "/etc/profile.d/x.sh",
    "/etc/ld.so.preload",
    "/srv/start.sh",
    "/.arena-python/json.py",
    "/root/sitecustomize.py",
    "/app/venv/lib/python3.11/site-packages/usercustomize.cpython-311-x86_64-linux-gnu.so",
    "/app/venv/lib/python3.11/site-packages/evil.pth",
    "/usr/lib/python3.11/random/__init__.py",
    "/usr/lib/python3/dist-packages/__pycache__/six.cpython-311.pyc",
    "/conftest.py",
    "/pytest.ini",
    "/root/bin",
    "/app/venv",
    "/lib64",
    "/usr/lib/python311.zip",
    "/usr/lib/python3.11/added.py",
    "/usr/lib/python3.11",
    "/usr/share/perl5/List/Util.pm",
    "/etc/perl",
    "/app/venv/pyvenv.cfg",
    "/usr/bin/pyvenv.cfg",
    "/usr/pyvenv.cfg",
    "/app/venv/lib",
    "/usr/local/lib/python3.11",
    "/usr/local/lib/python3.11/dist-packages/msvcrt.py",
    "/usr/local/lib/python3.11/dist-packages/org/python/core.py",
    "/srv/tools",
    "/var/lib/postgresql",
    "/var/lib/postgresql/.psqlrc",
    "/root/.sqliterc",
    "/root/.config/sqlite3/sqliterc",
    "/etc/nsswitch.conf",
    "/etc/pam.d/su",
    "/etc/ssl/openssl.cnf",
    "/etc/ld-musl-x86_64.path",
    "/usr/lib/x86_64-linux-gnu/gconv/gconv-modules.d/evil.conf",
    "/node_modules/left-pad/index.js",
    "/usr/bin/python3._pth",
    "/usr/bin/pybuilddir.txt",
    "/usr/bin/lib/python3.11/os.py",
    "/root/bin/lib64/python3.11/lib-dynload/_json.so",
    "/usr/bin/Modules/Setup.local",
    "/usr/bin/lib",
    "/root/.jq",
    "/root/.duckdbrc",
    "/home/ann/.config/go/env",
    "/root/.config",
    "/var/lib/postgresql/.config",
    "/etc/ssl",
    "/etc/pki/tls",
    "/usr/share/git-core/templates/hooks/post-checkout",
]
FREE = [
    "/root/answer.txt",
    "/root/conftest.py",
    "/root/project/pytest.ini",
    "/root/.config/tool.toml",
    "/root/.bashrc.bak",
    "/etc/nginx/nginx.conf",
    "/root/profile",
    "/root/libs/python3.11/notes.txt",
    "/srv/.profile",
    "/srv/lib/python3.11/os.py",
    "/root/project/.config",
    "/etc/group",
    "/usr/share/java/new.jar",
]


@pytest.mark.parametrize("path", NEVER)
def test_what_starts_by_itself_never_crosses(path: str) -> None:
    assert Guard(IMAGE, lookups=LOOKUPS).judge(path) is Passage.NEVER


@pytest.mark.parametrize("path", FREE)
def test_work_crosses(path: str) -> None:
    assert Guard(IMAGE, lookups=LOOKUPS).judge(path) is Passage.FREE


@pytest.mark.parametrize("home", ["/srv/home", "/srv/home/", "/"])
def test_the_images_own_home_is_guarded_beside_the_others(home: str) -> None:
    guard = Guard(Image("id", env={"HOME": home}))
    assert guard.judge(f"{home.rstrip('/')}/.bashrc") is Passage.NEVER
    assert guard.judge("/root/.bashrc") is Passage.NEVER
    assert guard.judge("/srv/home/answer.txt") is Passage.FREE


@pytest.mark.parametrize(
    "path", ["/root/bin", "/app/venv", "/root/.config", "/usr/bin/lib", "/etc/ssl"]
)
def test_a_folder_may_stand_where_programs_are(path: str) -> None:
    assert Guard(IMAGE, lookups=LOOKUPS).judge(path, is_folder=True) is Passage.FREE


def test_programs_and_modules_cross_where_the_image_has_none_of_their_name() -> None:
    guard = Guard(IMAGE, lookups=LOOKUPS)
    assert guard.judge("/root/bin/tool") is Passage.UNLESS_PROGRAM
    assert guard.judge("/usr/local/bin/tool") is Passage.UNLESS_PROGRAM
    assert guard.judge("/srv/tools/tool") is Passage.UNLESS_PROGRAM
    assert guard.judge(f"{SITE}/six/__init__.py") is Passage.UNLESS_MODULE
    assert guard.module(f"{SITE}/six/__init__.py") == (SITE, "six/__init__.py")
    assert guard.judge("/usr/local/lib/libz.so.1") is Passage.UNLESS_LIBRARY
    libraries = Guard(Image("id", env={"LD_LIBRARY_PATH": "/root/lib:"}))
    assert libraries.judge("/root/lib/libc.so.6") is Passage.UNLESS_LIBRARY
    assert libraries.judge("/root/library") is Passage.FREE
    assert guard.judge("/etc/passwd") is Passage.UNLESS_ROOTS


def test_a_declared_path_is_work_whatever_its_name() -> None:
    guard = Guard(IMAGE, ["/root/.bashrc", "/root/bin/deploy", "/root"], LOOKUPS)
    assert guard.judge("/root/.bashrc") is Passage.FREE
    assert guard.judge("/root/bin/deploy") is Passage.FREE
    assert guard.judge("/root/bin/python3") is Passage.UNLESS_PROGRAM
    assert guard.judge("/root/.profile") is Passage.NEVER


def test_what_the_image_has_stands_in_its_own_places() -> None:
    guard = Guard(IMAGE, lookups=LOOKUPS)
    assert guard.is_the_images("/usr/bin/cat")
    assert guard.is_the_images("/usr/lib/x86_64-linux-gnu/libc.so.6")
    assert guard.is_the_images("/app/venv/lib/python3.11/site-packages/six.py")
    assert guard.is_the_images("/usr/share/nodejs/semver/index.js")
    assert guard.is_the_images("/usr/share/java")
    assert not guard.is_the_images("/usr/share/nginx/html/index.html")
    assert not guard.is_the_images("/app/main.py")
    assert not guard.is_the_images("/etc/passwd")


def test_what_an_image_says_is_read_and_nothing_else() -> None:
    said = ["packages /usr/lib/python3/dist-packages/", "homes /", "closed relative", "evil /x", ""]
    assert Lookups.parse(said) == Lookups(packages=("/usr/lib/python3/dist-packages",))
