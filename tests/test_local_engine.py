"""The private engine: started once, found again, and up again after whatever ended it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from docker import APIClient

from arena.sandbox.builder import Builder
from arena.sandbox.context import build_context
from local import daemon, debian, engine
from local.baseimages import BUSYBOX, PYTHON, STAND_IN_LABEL, BaseImageError, ensure_base_images
from tests.needs import cannot

pytestmark = pytest.mark.docker


@pytest.fixture
def can_start(docker_engine: str) -> None:
    """An engine of our own needs dockerd, which finding an engine installs where it may."""
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        cannot("starting an engine needs root and dockerd")


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for an engine, on a machine that offers no other."""
    monkeypatch.setattr(engine, "_users_addresses", list)
    yield tmp_path / "docker"
    engine.stop_engine(tmp_path / "docker")
    shutil.rmtree(tmp_path / "docker", ignore_errors=True)
    assert not (tmp_path / "docker").exists()  # no mount is left in it


@pytest.mark.usefixtures("can_start")
def test_it_starts_once_and_is_found_again(directory: Path) -> None:
    first = engine.ensure_engine(directory)
    assert first.private
    assert first.reason is None
    pid = daemon.running_pid(daemon.Paths.under(directory))
    assert engine.ensure_engine(directory) == first == engine.find_engine(directory)
    assert daemon.running_pid(daemon.Paths.under(directory)) == pid
    assert engine.stop_engine(directory)
    assert engine.find_engine(directory) is None
    assert not engine.stop_engine(directory)


@pytest.mark.usefixtures("can_start")
def test_it_comes_up_after_a_kill_and_a_reused_process_id(directory: Path) -> None:
    engine.ensure_engine(directory)
    paths = daemon.Paths.under(directory)
    pid = daemon.running_pid(paths)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while daemon.running_pid(paths) is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert paths.socket.exists()
    paths.pidfile.write_text(str(os.getpid()))  # somebody else's by now
    again = engine.ensure_engine(directory)
    assert again.url is not None, again.reason
    assert daemon.running_pid(paths) not in (None, pid, os.getpid())


@pytest.mark.usefixtures("can_start")
def test_two_callers_at_once_get_one_engine(directory: Path) -> None:
    found: list[engine.Engine] = []
    callers = [
        threading.Thread(target=lambda: found.append(engine.ensure_engine(directory)))
        for _ in range(3)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(found) == 3
    assert len(set(found)) == 1
    assert found[0].url is not None, found[0].reason


@pytest.mark.usefixtures("can_start")
def test_a_long_path_works(directory: Path) -> None:
    deep = directory / ("long" * 20) / "docker"
    started = engine.ensure_engine(deep)
    try:
        assert started.url is not None, started.reason
        assert len(started.url) < 100
        assert engine.find_engine(deep) == started
    finally:
        engine.stop_engine(deep)


@pytest.mark.usefixtures("can_start")
def test_ctrl_c_at_the_terminal_is_not_for_it(directory: Path) -> None:
    engine.ensure_engine(directory)
    pid = daemon.running_pid(daemon.Paths.under(directory))
    assert pid is not None
    assert os.getsid(pid) == pid != os.getsid(0)


@pytest.mark.usefixtures("can_start")
def test_what_keeps_it_down_is_told(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon, "_FLAGS", ["--storage-driver=nonesuch"])
    told = engine.ensure_engine(directory)
    assert told.url is None
    assert "driver not supported" in (told.reason or "")


@pytest.mark.usefixtures("can_start")
def test_stand_ins_are_labelled_made_once_and_the_same_everywhere(
    directory: Path, tmp_path: Path
) -> None:
    url = engine.ensure_engine(directory).url
    assert url is not None
    client = APIClient(base_url=url, version="auto")
    try:
        assert ensure_base_images(url, cache=tmp_path / "one") == [BUSYBOX]
        assert ensure_base_images(url, cache=tmp_path / "one") == []
        image = client.inspect_image(BUSYBOX)
        assert "busybox-static" in image["Config"]["Labels"][STAND_IN_LABEL]
        client.remove_image(BUSYBOX)
        ensure_base_images(url, cache=tmp_path / "two")
        assert client.inspect_image(BUSYBOX)["Id"] == image["Id"]
    finally:
        client.close()


@pytest.mark.usefixtures("can_start")
def test_a_stand_in_is_loaded_from_its_file(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = engine.ensure_engine(directory).url
    assert url is not None
    ensure_base_images(url, cache=tmp_path)
    client = APIClient(base_url=url, version="auto")
    client.remove_image(BUSYBOX)
    client.close()
    monkeypatch.setattr(debian, "package_version", lambda _package: pytest.fail("made again"))
    assert ensure_base_images(url, cache=tmp_path) == [BUSYBOX]


@pytest.mark.usefixtures("can_start")
def test_a_stand_in_that_cannot_be_made_says_why_and_leaves_no_file(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = engine.ensure_engine(directory).url
    assert url is not None
    monkeypatch.setattr(debian, "why_not_installable", lambda: "not on Debian or Ubuntu")
    with pytest.raises(BaseImageError, match=rf"{PYTHON} .*: not on Debian or Ubuntu"):
        ensure_base_images(url, [PYTHON], tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_pythons_stand_in_has_what_the_real_one_has(python_engine: str) -> None:
    client = APIClient(base_url=python_engine, version="auto")
    code = "import ctypes, decimal, sqlite3, ssl, unittest, zoneinfo; print(ctypes.__file__)"
    command = ["sh", "-ec", f"bash --version; python -c '{code}'; exec /usr/local/bin/python3 -V"]
    container = client.create_container(PYTHON, command, network_disabled=True)
    try:
        client.start(container)
        assert client.wait(container, timeout=60)["StatusCode"] == 0, client.logs(container)
        assert b"Python 3.11." in client.logs(container)
    finally:
        client.remove_container(container, force=True)
        client.close()


def test_who_is_not_root_gets_a_reason(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    told = engine.ensure_engine(directory)
    assert (told.url, told.private) == (None, False)
    assert told.reason is not None
    assert told.reason.startswith("no Docker engine: not root")


def test_another_system_without_dockerd_gets_a_reason(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    told = engine.ensure_engine(directory)
    assert told.reason == "no Docker engine: not on Debian or Ubuntu, so none can be installed"


def test_a_dead_docker_host_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nonesuch.sock")
    assert engine._users_addresses()[0] == f"unix://{tmp_path}/nonesuch.sock"
    assert not daemon.answers(engine._users_addresses()[0])


def test_the_command_line_says_where_and_why_not(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "local.engine", "stop", "--dir", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert "no engine of ours" in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("can_start")
def test_what_builds_leave_in_it_has_a_limit(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon, "_BUILD_CACHE", "1MB")
    url = engine.ensure_engine(directory).url
    assert url is not None
    ensure_base_images(url, cache=tmp_path / "cache")
    client = APIClient(base_url=url, version="auto")
    context = tmp_path / "context"  # the engine's own files, which change, are beside it
    context.mkdir()
    for number in range(4):
        layer = f"FROM {BUSYBOX}\nRUN head -c 3000000 /dev/urandom > /{number}\n"
        (context / "Dockerfile").write_text(layer)
        options = ["--tag", "layer", "--network", "none"]
        built = Builder(url).build(build_context(context), options, 60)
        assert built.exit_code == 0, built.log
        client.remove_image("layer")
    deadline = time.monotonic() + 60
    while (kept := sum(one["Size"] for one in client.df()["BuildCache"] or [])) > 11_000_000:
        assert time.monotonic() < deadline, f"{kept} bytes are kept"
        time.sleep(0.5)
    client.close()


def test_packages_that_a_release_lacks_are_left_out() -> None:
    reason = debian.why_not_installable()
    if reason is not None:
        cannot(reason)
    assert debian._is_known("apt")
    assert not debian._is_known("no-such-package-anywhere")
