"""What trials cost beside plain `docker run`, how replay scales, and whether anything leaks.

    python -m bench.trials overhead|replay|leaks|calls [--count N] [--dir DIR]

overhead  seconds of an oracle's trial, beside `docker run` of the same commands: once with the
          oracle's and the verifier's in one container, once in one each, as a trial has them. On
          an engine 20.10 with two cores: 1.42 of the one run and 0.84 of the two, the median of
          nine packages; 1.67 of the smallest, whose run takes 0.28 s. There each copy in or out
          starts the engine's own program anew (65 ms, four of them in a trial)
replay    40 packages: a loop of scripts/run_local.sh, `arena replay --jobs 2`, and that once more
leaks     500 trials in a row: containers, file descriptors, memory and disk along the way
calls     where a trial's time goes: the mean time of each call to the engine

Needs a Docker engine; where there is none and it may (root on Debian), a private one is started.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any

from docker import APIClient

from arena.packages import TaskPackage, load_package
from arena.sandbox import Sandbox, oracle
from arena.sandbox.engine import Engine
from local.baseimages import PYTHON, ensure_base_images
from local.engine import DEFAULT_DIRECTORY, ensure_engine
from tests.sandbox.packages import DOCKERFILE, write_package

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "starting-kit" / "examples"
PACKAGES, IMAGES = 40, 5
CALLS = ("create", "start", "put", "get", "exec_create", "exec_exit_code", "wait", "kill")
CALLS += ("output", "_remove")


def overhead(url: str, folder: Path, count: int) -> None:
    """Trials and plain runs by turns, so that both meet the same machine."""
    packages = [write_package(folder / "one-word")]
    packages += [load_package(path) for path in sorted(EXAMPLES.iterdir())]
    version = engine_version(url)
    print(f"engine {version}, median of {count} oracle's trials, in seconds")
    print(f"{'package':34} {'trial':>7} {'one run':>8} {'ratio':>6} {'two runs':>9} {'ratio':>6}")
    ratios = []
    with Sandbox(url) as sandbox:
        for package in packages:
            image = sandbox.build(package)
            ways = (
                lambda p=package: solved(sandbox, p),
                lambda p=package, i=image: plain_run(url, p, i, [f"{_oracle(p)}; {VERIFY}"]),
                lambda p=package, i=image: plain_run(url, p, i, [_oracle(p), VERIFY]),
            )
            trial, one, two = (
                statistics.median(column)
                for column in zip(
                    *([timed(way) for way in ways] for _ in range(count)), strict=True
                )
            )
            ratios.append((trial / one, trial / two))
            print(
                f"{package.name:34} {trial:7.2f} {one:8.2f} {trial / one:6.2f} {two:9.2f}"
                f" {trial / two:6.2f}"
            )
    one, two = (statistics.median(column) for column in zip(*ratios, strict=True))
    print(f"{'median':34} {'':7} {'':8} {one:6.2f} {'':9} {two:6.2f}")


def engine_version(url: str) -> str:
    """What the figures depend on more than on anything else."""
    client = APIClient(base_url=url, version="auto")
    try:
        return str(client.version()["Version"])
    finally:
        client.close()


VERIFY = "mkdir -p /logs/verifier; cd /root; sh /verifier/test.sh"


def _oracle(package: TaskPackage) -> str:
    shell = "bash" if "bash" in package.oracle().partition("\n")[0] else "sh"
    return f"{shell} /oracle/solve.sh"


def solved(sandbox: Sandbox, package: TaskPackage) -> None:
    """One trial of the oracle, which must score."""
    result = sandbox.trial(package, oracle())
    if result.reward != 1.0:
        raise SystemExit(f"{package.name}: {result}")


def plain_run(url: str, package: TaskPackage, image: str, commands: list[str]) -> None:
    """The commands with `docker run`, one container each, the package's folders mounted."""
    places = [f"{package.root / name}:/{name}:ro" for name in ("oracle", "verifier")]
    for command in commands:
        run = ["docker", "-H", url, "run", "--rm", "--network", "none", "--entrypoint", "sh"]
        run += ["-v", places[0], "-v", places[1], image, "-c", command]
        subprocess.run(run, check=False, capture_output=True)


def replay(url: str, folder: Path, count: int) -> None:
    """The same packages in a loop of run_local.sh, and twice with `arena replay`."""
    names = [f"word-{number:02}" for number in range(PACKAGES)]
    for number, name in enumerate(names):
        image = f"{DOCKERFILE}ENV NUMBER={os.getpid()}-{number % IMAGES}\n"
        write_package(folder / name, dockerfile=image, solve=f"# {number}\n{SOLVE}")
    env = os.environ | {"DOCKER_HOST": url, "XDG_CACHE_HOME": str(folder / ".cache")}
    arena = [sys.executable, "-m", "arena", "replay", str(folder), "--jobs", "2"]
    rows: dict[str, list[float]] = defaultdict(list)
    for _ in range(count):
        shutil.rmtree(folder / ".cache", ignore_errors=True)
        for what, commands in (
            (
                "run_local.sh in a loop",
                [["bash", "scripts/run_local.sh", folder / n] for n in names],
            ),
            ("arena replay --jobs 2", [arena]),
            ("the same again", [arena]),
        ):
            rows[what].append(timed(lambda c=commands: ended_well(c, env)))
    print(
        f"{PACKAGES} packages of {IMAGES} images, median of {count}; the first of each builds them"
    )
    first, second, third = (statistics.median(times) for times in rows.values())
    for what, seconds, over in (
        ("run_local.sh in a loop", first, first),
        ("arena replay --jobs 2", second, first),
        ("the same again", third, second),
    ):
        print(f"{what:24} {seconds:8.2f} s   {over / seconds:6.1f} times as fast as the one before")


SOLVE = "echo amber > /root/answer.txt\n"


def ended_well(commands: list[list[Any]], env: dict[str, str]) -> None:
    """All commands, one after another; each must exit with 0."""
    for command in commands:
        subprocess.run([*map(str, command)], cwd=ROOT, env=env, check=True, capture_output=True)


def leaks(url: str, folder: Path, count: int) -> None:
    """Trials in a row; what is there after a tenth of them, and after all."""
    package = write_package(folder / "one-word")
    client = APIClient(base_url=url, version="auto")
    print(f"{'trials':>7} {'containers':>11} {'volumes':>8} {'fds':>5} {'MB':>6} {'engine MB':>10}")
    with Sandbox(url, jobs=2) as sandbox:
        done = 0
        for part in (count // 10, count - count // 10):
            sandbox.map(lambda _: solved(sandbox, package), range(part))
            done += part
            print(row_of(client, done))
    print(row_of(client, done) + "   closed")
    client.close()


def row_of(client: APIClient, done: int) -> str:
    """What there is now, of this process and in the engine. Removals may still be under way."""
    time.sleep(3)
    usage = client.df()
    disk = sum(one.get("SizeRw") or 0 for one in usage["Containers"]) + usage["LayersSize"]
    memory = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    files = len(list(Path("/proc/self/fd").iterdir()))
    return (
        f"{done:7} {len(usage['Containers'] or ()):11} {len(usage['Volumes'] or ()):8} "
        f"{files:5} {memory / 1e6:6.0f} {disk / 1e6:10.1f}"
    )


def calls(url: str, folder: Path, count: int) -> None:
    """Milliseconds of a trial in each call to the engine."""
    times: dict[str, list[float]] = defaultdict(list)
    lock = Lock()

    def recorded(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def run(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                with lock:
                    times[name].append(time.perf_counter() - began)

        return run

    for name in CALLS:
        setattr(Engine, name, recorded(name, getattr(Engine, name)))
    package = write_package(folder / "one-word")
    for jobs in (1, 2):
        with Sandbox(url, jobs=jobs) as sandbox:
            sandbox.build(package)
            times.clear()
            took = timed(lambda: sandbox.map(lambda _: solved(sandbox, package), range(count)))
        print(f"{jobs} jobs: {1000 * took / count:.0f} ms a trial")
        for spent, name, each in sorted(parts(times, count), reverse=True):
            print(f"  {name.strip('_'):16} {each:4.1f} calls {1000 * spent:6.1f} ms")


def parts(times: dict[str, list[float]], count: int) -> Iterator[tuple[float, str, float]]:
    """Of each call: seconds a trial, its name, how often a trial makes it."""
    for name, spent in times.items():
        yield sum(spent) / count, name, len(spent) / count


def timed(call: Callable[[], Any]) -> float:
    """Seconds of one call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


BENCHES: dict[str, tuple[Callable[[str, Path, int], None], int]] = {
    "overhead": (overhead, 7),
    "replay": (replay, 3),
    "leaks": (leaks, 500),
    "calls": (calls, 50),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure trials.")
    parser.add_argument("bench", choices=BENCHES)
    parser.add_argument(
        "--count",
        type=int,
        help="how often; default: "
        + ", ".join(f"{name} {count}" for name, (_, count) in BENCHES.items()),
    )
    parser.add_argument("--dir", type=Path, default=DEFAULT_DIRECTORY)
    options = parser.parse_args()
    engine = ensure_engine(options.dir)
    if engine.url is None:
        sys.exit(engine.reason)
    if engine.private:
        ensure_base_images(engine.url)
        if options.bench == "overhead":
            ensure_base_images(engine.url, [PYTHON])
    bench, count = BENCHES[options.bench]
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} when it began")
    with tempfile.TemporaryDirectory() as folder:
        bench(engine.url, Path(folder), options.count or count)


if __name__ == "__main__":
    main()
