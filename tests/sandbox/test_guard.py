"""Which of an agent's paths may stand where the verifier runs, without Docker."""

from __future__ import annotations

import pytest

from arena.sandbox.guard import Guard, Passage, looked_for
from arena.sandbox.images import Image

IMAGE = Image(
    "id", env={"PATH": "/root/bin:/app/venv/bin:/usr/bin:/bin", "BASH_ENV": "/srv/start.sh"}
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
    "/usr/bin/python3._pth",
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
]


@pytest.mark.parametrize("path", NEVER)
def test_what_starts_by_itself_never_crosses(path: str) -> None:
    assert Guard(IMAGE).judge(path) is Passage.NEVER


@pytest.mark.parametrize("path", FREE)
def test_work_crosses(path: str) -> None:
    assert Guard(IMAGE).judge(path) is Passage.FREE


@pytest.mark.parametrize("home", ["/srv/home", "/srv/home/", "/"])
def test_the_images_own_home_is_guarded_beside_the_others(home: str) -> None:
    guard = Guard(Image("id", env={"HOME": home}))
    assert guard.judge(f"{home.rstrip('/')}/.bashrc") is Passage.NEVER
    assert guard.judge("/root/.bashrc") is Passage.NEVER
    assert guard.judge("/srv/home/answer.txt") is Passage.FREE


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("/usr/share/perl5/List/Util.pm", "List/Util.pm"),
        ("/usr/share/perl/5.36/strict.pmc", "strict.pm"),
        ("/usr/lib/x86_64-linux-gnu/perl-base/List/Util.pmc", "List/Util.pm"),
        ("/usr/lib/x86_64-linux-gnu/perl5/5.36/List/Util.pm", "List/Util.pm"),
        ("/usr/local/lib/perl5/site_perl/5.36.0/x86_64-linux-gnu/List/Util.pm", "List/Util.pm"),
        ("/usr/local/lib/perl5/site_perl/List/Util.pm", "List/Util.pm"),
        ("/usr/local/share/perl/5.36.0/List/Util.pm", "List/Util.pm"),
    ],
)
def test_a_module_of_perl_is_looked_for_by_its_name(path: str, module: str) -> None:
    assert Guard(IMAGE).judge(path) is Passage.UNLESS_PERL
    assert looked_for(Passage.UNLESS_PERL, path) == module


@pytest.mark.parametrize("path", ["/root/bin", "/app/venv", "/root/.config", "/usr/bin"])
def test_a_folder_may_stand_where_programs_are(path: str) -> None:
    assert Guard(IMAGE).judge(path, is_folder=True) is Passage.FREE


def test_programs_and_modules_cross_where_the_image_has_none_of_their_name() -> None:
    guard = Guard(IMAGE)
    assert guard.judge("/root/bin/tool") is Passage.UNLESS_PROGRAM
    assert guard.judge("/usr/local/bin/tool") is Passage.UNLESS_PROGRAM
    module = "/app/venv/lib/python3.11/site-packages/six/__init__.py"
    assert guard.judge(module) is Passage.UNLESS_MODULE
    assert guard.judge("/etc/perl/List/Util.pm") is Passage.UNLESS_PERL
    libraries = Guard(Image("id", env={"LD_LIBRARY_PATH": "/root/lib:"}))
    assert libraries.judge("/root/lib/libc.so.6") is Passage.UNLESS_LIBRARY
    assert libraries.judge("/root/library") is Passage.FREE


def test_a_declared_path_is_work_whatever_its_name() -> None:
    guard = Guard(IMAGE, ["/root/.bashrc", "/root/bin/deploy", "/root"])
    assert guard.judge("/root/.bashrc") is Passage.FREE
    assert guard.judge("/root/bin/deploy") is Passage.FREE
    assert guard.judge("/root/bin/python3") is Passage.UNLESS_PROGRAM
    assert guard.judge("/root/.profile") is Passage.NEVER


def test_what_the_image_has_stands_in_its_own_places() -> None:
    guard = Guard(IMAGE)
    assert guard.is_the_images("/usr/bin/cat")
    assert guard.is_the_images("/usr/lib/x86_64-linux-gnu/libc.so.6")
    assert guard.is_the_images("/app/venv/lib/python3.11/site-packages/six.py")
    assert not guard.is_the_images("/app/main.py")
    assert not guard.is_the_images("/etc/passwd")
