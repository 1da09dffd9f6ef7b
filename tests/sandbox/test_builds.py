"""Builds by the docker command: which one, what it is given, and that no build outlives its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from docker import APIClient

from arena.sandbox import BuildError, EngineUnavailable, NoDockerCommand, Sandbox, untouched
from arena.sandbox.builder import docker_command, docker_environment
from tests.needs import cannot
from tests.sandbox.packages import DOCKERFILE, write_package
from tests.sandbox.waiting import eventually, processes_with

FROM = "FROM busybox:1.35.0\n"


class Endless:
    """A package whose build sleeps, told by its seconds from every other sleep on the machine."""

    def __init__(self, root: Path, engine: str, build_sec: float = 100) -> None:
        self.engine = engine
        self.command = f"sleep {int.from_bytes(os.urandom(3)) + 100_000}"
        self.package = write_package(
            root, dockerfile=f"{FROM}RUN {self.command}\n", build_sec=build_sec
        )

    def builds(self) -> bool:
        return bool(processes_with(self.command))

    def is_over(self) -> bool:
        """Neither the engine's process is left, nor the docker command, nor its watcher."""
        return not processes_with(self.command) and not processes_with(
            "posttrain-arena/environment"
        )


@pytest.fixture
def endless(docker_engine: str, tmp_path: Path) -> Endless:
    if not docker_engine.startswith("unix://") or not Path("/proc/self").exists():
        cannot("only an engine on this machine shows its processes, and only in /proc")
    return Endless(tmp_path / "endless", docker_engine)


@pytest.mark.docker
class TestNothingOutlives:
    @pytest.mark.usefixtures("endless")
    def test_the_time_limit(self, docker_engine: str, sandbox: Sandbox, tmp_path: Path) -> None:
        def run(build: bool) -> None:
            if build:
                with pytest.raises(BuildError, match="time is up"):
                    sandbox.build(short.package)
            else:
                assert eventually(short.builds)

        short = Endless(tmp_path / "short", docker_engine, build_sec=6)
        sandbox.map(run, [False, True])
        assert eventually(short.is_over)

    def test_an_error_elsewhere(self, docker_engine: str, endless: Endless) -> None:
        def run(build: bool) -> None:
            if build:
                sandbox.build(endless.package)
            assert eventually(endless.builds)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt), Sandbox(docker_engine) as sandbox:
            sandbox.map(run, [False, True])
        assert eventually(endless.is_over)
        with pytest.raises(EngineUnavailable, match="closing"):
            sandbox.build(endless.package)

    @pytest.mark.parametrize("signal", ["INT", "TERM", "KILL"])
    def test_the_end_of_the_process(
        self, docker_engine: str, endless: Endless, signal: str
    ) -> None:
        code = (
            "import sys; from pathlib import Path\n"
            "from arena.packages import load_package; from arena.sandbox import Sandbox\n"
            "with Sandbox(sys.argv[1]) as sandbox: sandbox.build(load_package(Path(sys.argv[2])))\n"
        )
        builder = subprocess.Popen(
            [sys.executable, "-c", code, docker_engine, str(endless.package.root)],
            env={**os.environ, "PYTHONPATH": str(Path.cwd())},
            stderr=subprocess.DEVNULL,
        )
        assert eventually(endless.builds)
        subprocess.run(["kill", f"-{signal}", str(builder.pid)], check=True)
        builder.wait(30)
        assert eventually(endless.is_over)


@pytest.mark.docker
class TestWhatABuildIsGiven:
    def test_no_frontend_of_the_authors(self, sandbox: Sandbox, tmp_path: Path) -> None:
        directives = "# syntax=registry.invalid/evil:1\n# escape=`\n"
        dockerfile = f"{directives}{FROM}RUN true `\n  && echo built > /built\n"
        package = write_package(
            tmp_path / "syntax",
            dockerfile=dockerfile,
            test="[ -e /built ] && echo 1 > /logs/verifier/reward.txt",
        )
        assert sandbox.trial(package, untouched()).reward == 1.0
        other = write_package(tmp_path / "json", dockerfile='{"syntax": "registry.invalid/evil:1"}')
        with pytest.raises(BuildError, match=r"line 1: .* is no instruction"):
            sandbox.build(other)

    def test_lines_keep_their_numbers(self, sandbox: Sandbox, tmp_path: Path) -> None:
        dockerfile = f"# syntax=registry.invalid/evil:1\n\n{FROM}FOO bar\n"
        package = write_package(tmp_path / "line-4", dockerfile=dockerfile)
        with pytest.raises(BuildError, match=r"line 4: unknown instruction: FOO"):
            sandbox.build(package)

    def test_no_cache_mount_of_another_packages(self, sandbox: Sandbox, tmp_path: Path) -> None:
        mount = "RUN --mount=type=cache,target=/cache"
        left = f"{FROM}{mount} echo poison > /cache/pip\n"
        sandbox.build(write_package(tmp_path / "left", dockerfile=left))
        found = f"{FROM}{mount} [ ! -e /cache/pip ]\n"
        sandbox.build(write_package(tmp_path / "found", dockerfile=found))

    def test_no_network_and_nothing_of_the_environment(
        self, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HF_TOKEN", "hf_secret")
        look = "RUN [ $(ls /sys/class/net) = lo ] && ! env | grep -i -e token -e docker\n"
        sandbox.build(write_package(tmp_path / "alone", dockerfile=FROM + look))

    def test_two_processes_get_one_image(
        self, docker_engine: str, sandbox: Sandbox, tmp_path: Path
    ) -> None:
        package = write_package(tmp_path / "one", dockerfile=f"{DOCKERFILE}RUN echo {tmp_path}\n")
        first = sandbox.build(package)
        client = APIClient(base_url=docker_engine, version="auto")
        [name] = client.inspect_image(first)["RepoTags"]
        client.tag(first, "kept-by-a-test", "latest")
        client.remove_image(name)
        code = (
            "import sys; from pathlib import Path\n"
            "from arena.packages import load_package; from arena.sandbox import Sandbox\n"
            "print(Sandbox(sys.argv[1]).build(load_package(Path(sys.argv[2]))))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, docker_engine, str(package.root)],
            env={**os.environ, "PYTHONPATH": str(Path.cwd())},
            capture_output=True,
            text=True,
            check=True,
        )
        client.remove_image("kept-by-a-test:latest")
        client.close()
        assert done.stdout.strip() == first


class TestTheDockerCommand:
    def test_one_that_cannot_use_buildkit_is_passed_over(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        without = command(tmp_path / "without", 'echo "Docker version 28.2.2"')
        another = command(tmp_path / "another", "echo podman version 4.3.1")
        plugin = command(tmp_path / "plugin", 'echo "Docker version 28.2.2, build 1"', "buildx) ;;")
        old = command(tmp_path / "old", 'echo "Docker version 20.10.24+dfsg1, build 1"')
        for folders, chosen in (
            ([without, plugin], plugin),
            ([another, old, plugin], old),
        ):
            monkeypatch.setenv("PATH", os.pathsep.join([str(f) for f in [*folders, "/bin"]]))
            assert docker_command() == str(chosen / "docker")
        monkeypatch.setenv("PATH", str(without))
        with pytest.raises(NoDockerCommand, match=f"{without}/docker lacks its buildx plugin"):
            docker_command()

    def test_without_one_there_is_no_sandbox(
        self, docker_engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(NoDockerCommand, match="not installed"):
            Sandbox(docker_engine)

    def test_it_is_told_of_this_engine_and_keeps_the_users_configuration(self) -> None:
        users = {
            "DOCKER_CONFIG": "/c",
            "DOCKER_CONTEXT": "other",
            "DOCKER_HOST": "unix:///other.sock",
            "DOCKER_TLS_VERIFY": "1",
            "DOCKER_CERT_PATH": "/certs",
            "BUILDX_BUILDER": "other",
        }
        here = docker_environment("unix:///x.sock", users)
        assert (here["DOCKER_HOST"], here["DOCKER_CONFIG"]) == ("unix:///x.sock", "/c")
        assert not {"DOCKER_CONTEXT", "BUILDX_BUILDER", "DOCKER_TLS_VERIFY"} & set(here)
        there = docker_environment("tcp://x:2376", users)
        assert (there["DOCKER_TLS_VERIFY"], there["DOCKER_CERT_PATH"]) == ("1", "/certs")


def command(folder: Path, version: str, more: str = "") -> Path:
    """A folder with a docker command that says its version, and knows `more` subcommands."""
    folder.mkdir()
    script = folder / "docker"
    script.write_text(f"#!/bin/sh\ncase $1 in --version) {version};;\n{more}\n*) exit 1;; esac\n")
    script.chmod(0o755)
    return folder
