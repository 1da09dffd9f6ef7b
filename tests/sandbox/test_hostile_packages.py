"""Packages that mean harm: by their verifier, their oracle or their Dockerfile.

None hurts the host, the engine or a trial beside it: each runs next to an honest one that scores 1,
and nothing of them is left afterwards.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from uuid import uuid4

import pytest
from docker import APIClient

from arena.packages import TaskPackage
from arena.sandbox import BuildError, Sandbox, TrialResult, oracle, replay, scripted, untouched
from tests.sandbox.hostile import WORK, assert_solved, told
from tests.sandbox.packages import DOCKERFILE, write_package
from tests.sandbox.test_isolation import PROBES

pytestmark = [pytest.mark.docker, pytest.mark.slow]

REWARD = "/logs/verifier/reward.txt"
NO_REWARD = {(None, "verifier")}
NOTHING = {(0.0, None), (None, "verifier")}
FULL = {(1.0, None)}
EITHER = FULL | NO_REWARD
DEEP = "$(i=0; while [ $i -lt 30 ]; do printf '%0120d/' 0; i=$((i+1)); done)"

ESCAPES = "\n".join(
    ["r=0", "exec 2> /dev/null"]
    + [
        f'({probe}) > /dev/null && {{ r=1; echo "{name}"; }}'
        for name, probe in PROBES.items()
        if name != "verifier, oracle, logs"
    ]
    + [f"echo $r > {REWARD}"]
)
# What a verifier does, and what its trial may come to.
VERIFIERS: dict[str, tuple[str, set[tuple[float | None, str | None]]]] = {
    "forks": (f"b() {{ b | b & }}; b; sleep 60; echo 1 > {REWARD}", NO_REWARD),
    "takes memory": (f"tail /dev/zero && echo 1 > {REWARD}", NO_REWARD),
    "fills the disk by files": (
        "for i in $(seq 1 20); do head -c 15m /dev/zero > /big$i; done; "
        f"sleep 8; echo 1 > {REWARD}",
        NO_REWARD,
    ),
    "fills the disk by one file": (f"yes > /big && echo 1 > {REWARD}", NO_REWARD),
    "makes many files": (
        f"mkdir /n; cd /n; seq 1 10000 | xargs touch; echo 1 > {REWARD}",
        EITHER,
    ),
    "talks without end": (f"yes; echo 1 > {REWARD}", NO_REWARD),
    "says many lines": (f"yes | head -n 200000; echo 1 > {REWARD}", FULL),
    "says one long line": (f"head -c 9m /dev/zero | tr '\\000' x; echo 1 > {REWARD}", FULL),
    "says what is no text": (f"head -c 1m /dev/urandom; echo 1 > {REWARD}", FULL),
    "never ends": (
        f"echo 1 > {REWARD}; trap '' TERM INT HUP; while true; do sleep 1; done",
        NO_REWARD,
    ),
    "stops": (f"echo 1 > {REWARD}; kill -STOP $$; kill -STOP 1; sleep 60", NO_REWARD),
    "leaves processes": (
        f"(trap '' TERM HUP; while true; do setsid sleep 9 & sleep 0.1; done) & echo 1 > {REWARD}",
        FULL,
    ),
    "kills the first process": (
        f"kill -TERM 1; kill -9 1; kill -9 -1; sleep 1; echo 1 > {REWARD}",
        EITHER,
    ),
    "tries every way out": (ESCAPES, {(0.0, None)}),
    "writes an endless reward": (f"yes 1 > {REWARD}", NO_REWARD),
    "writes a reward of many numbers": (f"seq 1 10000 > {REWARD}", NO_REWARD),
    "writes deep JSON": (
        f"seq 1 30000 | while read i; do printf '['; done > /logs/verifier/reward.json; echo 1 > {REWARD}",
        NO_REWARD,
    ),
    "writes thousands of logs": (
        f"cd /logs/verifier; seq 1 5000 | xargs touch; echo 1 > {REWARD}",
        EITHER,
    ),
    "writes logs deeper than a path is long": (
        f"mkdir -p /logs/verifier/a/{DEEP} /logs/b/{DEEP}; cd /logs/verifier/a/{DEEP}; mv /logs/b .; "
        f"echo 1 > {REWARD}",
        EITHER,
    ),
    "names logs badly": (
        f"cd /logs/verifier; touch \"$(printf 'a\\nb\\377')\" ./-rf .wh.reward.txt .wh..wh..opq; echo 1 > {REWARD}",
        FULL,
    ),
    "links its logs to the host's": (
        f"echo 1 > /x; rm -rf /logs; ln -s /proc/1/root/etc /logs; ln -s / /y; ln -s /x {REWARD}",
        NO_REWARD,
    ),
    "changes its own files": (
        "cat /verifier/expected.txt; if grep pwned /verifier/expected.txt; then r=1; fi; "
        "echo pwned > /verifier/expected.txt; rm -rf /verifier /tests; mkdir /verifier; "
        f"echo pwned > /verifier/test.sh; echo ${{r:-0}} > {REWARD}",
        {(0.0, None)},
    ),
    "writes into the engine's own files": (
        f"for f in /etc/hostname /etc/hosts /etc/resolv.conf; do yes > $f; done; echo 0 > {REWARD}",
        NOTHING,
    ),
}
HUNG = {"forks", "talks without end", "never ends", "stops", "takes memory"}

ORACLES = {
    "forks": "b() { b | b & }; b; sleep 60",
    "takes memory": "tail /dev/zero",
    "fills the disk": "for i in $(seq 1 40); do head -c 15m /dev/zero > /big$i; done; sleep 60",
    "talks without end": "yes",
    "never ends": "trap '' TERM INT HUP; while true; do sleep 1; done",
    "leaves processes": "(trap '' TERM HUP; while true; do echo 1 > /logs/verifier/reward.txt; done) > /dev/null 2>&1 &",
    "kills the first process": "kill -TERM 1; kill -9 1; kill -9 -1",
    "writes the reward": "mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt",
    "changes its own files": "echo 'echo amber > /root/answer.txt' > /oracle/solve.sh; rm -rf /oracle /solution",
    "looks for the answer": "cp /verifier/expected.txt /tests/expected.txt /root/answer.txt",
    "makes a link to the answer": "ln -s /verifier/expected.txt /root/answer.txt",
}


@dataclass(frozen=True)
class Aftermath:
    """What came of hostile trials, of the honest ones beside them, and what was left."""

    hostile: dict[str, TrialResult]
    honest: list[TrialResult]
    containers: set[str]
    volumes: set[str]
    changed: set[str]


@contextmanager
def client_of(url: str) -> Iterator[APIClient]:
    client = APIClient(base_url=url, version="auto")
    try:
        yield client
    finally:
        client.close()


def containers(client: APIClient) -> set[str]:
    return {one["Id"] for one in client.containers(all=True)}


def volumes(client: APIClient) -> set[str]:
    return {one["Name"] for one in client.volumes()["Volumes"] or ()}


def slug(name: str) -> str:
    return re.sub("[^a-z0-9]+", "-", name.lower())


def digest(root: Path) -> str:
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> TaskPackage:
    return write_package(
        tmp_path_factory.mktemp("beside") / "beside", agent_sec=60, verifier_sec=60
    )


@pytest.fixture(scope="module")
def verified(
    docker_engine: str, honest: TaskPackage, tmp_path_factory: pytest.TempPathFactory
) -> Aftermath:
    root = tmp_path_factory.mktemp("hostile-verifiers")
    packages = {
        name: write_package(
            root / slug(name),
            test=f"#!/bin/sh\n{test}\n",
            verifier_sec=3 if name in HUNG else 60,
        )
        for name, (test, _) in VERIFIERS.items()
    }

    def act(sandbox: Sandbox, package: TaskPackage) -> TrialResult:
        return sandbox.trial(package, untouched())

    return run_beside(docker_engine, honest, packages, act)


@pytest.fixture(scope="module")
def solved(
    docker_engine: str, honest: TaskPackage, tmp_path_factory: pytest.TempPathFactory
) -> Aftermath:
    root = tmp_path_factory.mktemp("hostile-oracles")
    packages = {
        name: write_package(root / slug(name), solve=f"{solve}\n", agent_sec=4)
        for name, solve in ORACLES.items()
    }

    def act(sandbox: Sandbox, package: TaskPackage) -> TrialResult:
        return sandbox.trial(package, oracle())

    return run_beside(docker_engine, honest, packages, act)


def run_beside(
    url: str,
    honest: TaskPackage,
    packages: dict[str, TaskPackage],
    act: Callable[[Sandbox, TaskPackage], TrialResult],
) -> Aftermath:
    """Each package's trial, and beside it an honest one of another package."""

    def trial(package: TaskPackage) -> TrialResult:
        if package is honest:
            return sandbox.trial(honest, scripted([WORK]))
        return act(sandbox, package)

    pairs = [one for package in packages.values() for one in (package, honest)]
    digests = {name: digest(package.root) for name, package in packages.items()}
    with client_of(url) as client:
        before = containers(client), volumes(client)
        with Sandbox(url) as sandbox:
            results = sandbox.map(trial, pairs)
        return Aftermath(
            hostile=dict(zip(packages, results[::2], strict=True)),
            honest=results[1::2],
            containers=containers(client) - before[0],
            volumes=volumes(client) - before[1],
            changed={name for name in packages if digest(packages[name].root) != digests[name]},
        )


@pytest.mark.parametrize("name", VERIFIERS)
def test_a_hostile_verifier_hurts_its_own_trial_alone(verified: Aftermath, name: str) -> None:
    result = verified.hostile[name]
    assert (result.reward, result.fault) in VERIFIERS[name][1], told(result)


@pytest.mark.parametrize("name", ORACLES)
def test_a_hostile_oracle_is_worth_nothing(solved: Aftermath, name: str) -> None:
    result = solved.hostile[name]
    assert result.reward == 0.0, told(result)
    assert result.fault in (None, "agent"), told(result)


@pytest.mark.parametrize("whose", ["verified", "solved"])
def test_honest_trials_beside_them_are_worth_1_and_nothing_is_left(
    docker_engine: str, request: pytest.FixtureRequest, honest: TaskPackage, whose: str
) -> None:
    aftermath: Aftermath = request.getfixturevalue(whose)
    for result in aftermath.honest:
        assert_solved(result)
    assert (aftermath.containers, aftermath.volumes, aftermath.changed) == (set(), set(), set())
    with Sandbox(docker_engine) as sandbox:
        assert_solved(sandbox.trial(honest, scripted([WORK])))


def test_a_second_trial_does_not_see_what_the_first_verifier_changed(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    test = f"#!/bin/sh\n{VERIFIERS['changes its own files'][0]}\n"
    package = write_package(tmp_path / "changes", test=test)
    results = [sandbox.trial(package, untouched()) for _ in range(2)]
    assert [result.reward for result in results] == [0.0, 0.0]
    assert [result.verifier_output for result in results] == ["amber\n"] * 2


def test_a_replay_of_a_hostile_package_ends_with_a_verdict_on_it(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    package = write_package(
        tmp_path / "replayed",
        solve=ORACLES["kills the first process"],
        test=f"#!/bin/sh\n{VERIFIERS['kills the first process'][0]}\n",
    )
    assert replay(sandbox, package).verdict in {"no reward", "untouched scores", "oracle fails"}


DOCKERFILES = {
    "says 50 MB": "RUN yes | head -c 50m\n",
    "says one line of 50 MB": "RUN head -c 50m /dev/zero | tr '\\000' x\n",
    "leaves processes": "RUN (trap '' TERM HUP; setsid sleep 1000 &) ; true\n",
    "has many volumes": "".join(f"VOLUME /v{number}\n" for number in range(8)),
    "has volumes where the arena's folders are": "VOLUME /logs /verifier /tests /tmp /root\n",
    "has labels of the arena's": "LABEL org.posttrain-arena=trial org.posttrain-arena.owner=gone\n",
    "has folders where the arena's are": "RUN mkdir -p /logs/verifier/reward.txt /verifier /tests/x; "
    "echo pwn > /verifier/expected.txt\n",
    "has links where the arena's folders are": "RUN ln -s /proc/1 /logs; ln -s /root /verifier\n",
    "has programs that it names like the arena's": "RUN mkdir /e; for p in rm mv cp mkdir ln; do "
    "printf '#!/bin/sh\\nexit 1\\n' > /e/$p; chmod +x /e/$p; done\nENV PATH=/e:/bin\n",
}
ENDLESS = {
    "sleeps": "RUN sleep 600\n",
    "waits for a pipe": "RUN mkfifo /p && cat /p\n",
    "ignores the end of time": "RUN trap '' TERM INT HUP; while true; do sleep 1; done\n",
    "talks without end": "RUN yes\n",
    "has thousands of layers": "".join(f"COPY Dockerfile /f{number}\n" for number in range(3000)),
    "has thousands of steps": "".join(f"ENV E{number}=1\n" for number in range(5000)),
}


@pytest.fixture(scope="module")
def built(
    docker_engine: str, honest: TaskPackage, tmp_path_factory: pytest.TempPathFactory
) -> Aftermath:
    root = tmp_path_factory.mktemp("hostile-dockerfiles")
    packages = {
        name: write_package(root / slug(name), dockerfile=DOCKERFILE + more)
        for name, more in DOCKERFILES.items()
    } | {
        name: write_package(
            root / f"endless-{slug(name)}", dockerfile=DOCKERFILE + more, build_sec=3
        )
        for name, more in ENDLESS.items()
    }

    def act(sandbox: Sandbox, package: TaskPackage) -> TrialResult:
        try:
            return sandbox.trial(package, scripted([WORK]))
        except BuildError as error:
            return TrialResult(None, None, f"{error}\n{error.log}")

    return run_beside(docker_engine, honest, packages, act)


@pytest.mark.parametrize("name", DOCKERFILES)
def test_a_strange_image_is_no_ones_harm_but_its_packages(built: Aftermath, name: str) -> None:
    result = built.hostile[name]
    assert (result.reward, result.fault) in FULL | NOTHING, told(result)


@pytest.mark.parametrize("name", ENDLESS)
def test_a_build_without_end_is_ended(built: Aftermath, name: str) -> None:
    result = built.hostile[name]
    assert "does not build" in result.detail, told(result)
    assert len(result.detail) < 6000


def test_honest_trials_beside_builds_are_worth_1_and_nothing_is_left(
    docker_engine: str, built: Aftermath
) -> None:
    for result in built.honest:
        assert_solved(result)
    assert (built.containers, built.volumes, built.changed) == (set(), set(), set())


def test_a_build_asks_nothing_of_the_hosts_network(sandbox: Sandbox, tmp_path: Path) -> None:
    """Neither from within nor by the engine itself, which fetches what ADD names."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"amber\n")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        for name, line in {
            "add": f"ADD {url}/add /root/answer.txt\n",
            "run": f"RUN timeout 2 wget -q -O /root/answer.txt {url}/run\n",
        }.items():
            package = write_package(tmp_path / name, dockerfile=DOCKERFILE + line)
            with pytest.raises(BuildError):
                sandbox.build(package)
    finally:
        server.shutdown()
        server.server_close()
    assert asked == []


def test_the_image_of_another_package_is_no_base(
    docker_engine: str, sandbox: Sandbox, tmp_path: Path
) -> None:
    """A suite's images are on the same engine, and their files are sealed."""
    secret = write_package(tmp_path / "sealed", dockerfile=DOCKERFILE + "RUN echo a > /sealed\n")
    image = sandbox.build(secret).removeprefix("sha256:")
    with client_of(docker_engine) as client:
        (tag,) = client.inspect_image(image)["RepoTags"]
    for number, name in enumerate([tag, image, image[:12]]):
        for line in (f"FROM {name}\n", f"FROM busybox:1.35.0\nCOPY --from={name} /sealed /root/\n"):
            package = write_package(tmp_path / f"thief-{number}-{len(line)}", dockerfile=line)
            with pytest.raises(BuildError):
                sandbox.build(package)


def test_an_image_that_no_process_starts_in_is_the_authors_to_mend(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """An environment larger than the kernel takes; a platform's fault would be free of cost."""
    lines = "".join(f"ENV E{number}={'x' * 100_000}\n" for number in range(40))
    package = write_package(tmp_path / "environment", dockerfile=DOCKERFILE + lines)
    try:
        result = sandbox.trial(package, untouched())
    except BuildError:
        return
    assert (result.reward, result.fault) == (None, "verifier"), told(result)


def test_a_failed_build_leaves_no_layers(
    docker_engine: str, sandbox: Sandbox, tmp_path: Path
) -> None:
    fails = f"ENV ONCE={uuid4()}\nRUN head -c 5m /dev/urandom > /big\nRUN exit 3\n"
    package = write_package(tmp_path / "layers", dockerfile=DOCKERFILE + fails)
    with client_of(docker_engine) as client:
        before = {one["Id"] for one in client.images(all=True)}
        with pytest.raises(BuildError):
            sandbox.build(package)
        assert {one["Id"] for one in client.images(all=True)} <= before
