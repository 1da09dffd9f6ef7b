"""Many submissions at once through the real app: what is acknowledged, when, and who waits for it.

    python -m bench.load [--submissions 1000] [--clients 50]

A local hub and the app are processes of their own, as `make run` starts them, but with the Space's
60 commits an hour and with limits that refuse nobody. The store has 5,000 records to begin with.
Each client is a thread of a third process: it submits a collection of one small task, waits for the
answer, then submits its next. Meanwhile this process reads pages and API in turn, as one visitor
would; a page is its HTML and then the event that fills it. `idle` is the same reading before that,
and after it, once each submission is validated too. At the end the store is read anew, and the
commits in its git history are counted.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
import huggingface_hub
import yaml
from huggingface_hub import HfApi

from arena.budget import HOUR
from arena.challenges import load_challenges
from arena.client import ArenaClient
from arena.errors import ArenaError
from arena.processes import Process
from arena.store import Store
from bench import records
from local.demo.publish import publish
from local.stack import Options, Stack
from tests.collections import upload, write_collection
from tests.hub import RunningHub, start_hub
from tests.service.conftest import free_port

ROOT = Path(__file__).parents[1]
STORE = "arena/results"
TITLE = "One of many"
SEEDED = 5_000  # records
COMMITS_PER_HOUR = 60
PAUSE = 0.1  # seconds between two rounds of reading
IDLE_ROUNDS = 40  # before, and again after
API = (
    "/api/v1/challenges",
    "/api/v1/leaderboard?challenge=demo",
    "/api/v1/submissions/sub_000077",
    "/api/v1/runs",
    "/healthz",
)
PAGES = ("/", "/leaderboard?challenge=demo", "/submission?id=sub_000077", "/runs")
_CONFIG = re.compile(r"window\.gradio_config = (\{.*?\});</script>", re.DOTALL)


class Answer(NamedTuple):
    """What became of one submission: its id or why it was refused, and after how long."""

    submission: str | None
    refusal: str | None
    seconds: float


class Counts(NamedTuple):
    """What a load came to: as many acknowledged as submitted, few commits, the rest 0."""

    submitted: int
    acknowledged: int
    lost: int
    twice: int
    not_acknowledged: int
    not_validated: int
    commits: int
    commits_in_an_hour: int


class Read(NamedTuple):
    """One reading of an address."""

    address: str
    seconds: float


class Load(NamedTuple):
    """What was measured: each answer, and what reading took before and after, and meanwhile."""

    answers: list[Answer]
    idle: list[Read]
    busy: list[Read]
    seconds: float


def put_load(folder: Path, submissions: int, clients: int) -> tuple[Load, Counts]:
    """Starts hub and app, submits, and counts what is there."""
    hub = start_hub(folder / "hub")
    try:
        publish_demo(hub, folder)
        sources = _publish_collections(hub, folder, submissions, clients)
        records.publish(hub.api("arena"), STORE, SEEDED)
        seeded = len(_commit_times(hub))
        app, url = start_app(hub, folder)
        try:
            load = _measure(url, folder, sources, clients)
        finally:
            app.stop()
        times = _commit_times(hub)[seeded:]
        return load, _count(hub, folder / "fresh", len(sources), load.answers, times)
    finally:
        hub.stop()


def _measure(url: str, folder: Path, sources: list[str], clients: int) -> Load:
    reader = Reader(url)
    reader.round()  # a first time: what is made once is made
    idle = reader.rounds(IDLE_ROUNDS)
    asked = folder / "sources.json"
    asked.write_text(json.dumps(sources))
    command = [sys.executable, "-m", "bench.load", "submit", url, str(asked), str(clients)]
    began, busy = time.monotonic(), list[Read]()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as submitting:
        with ThreadPoolExecutor(1) as listening:
            told = listening.submit(submitting.communicate)
            while not told.done():
                busy += reader.round()
        answers = [Answer(*json.loads(line)) for line in told.result()[0].splitlines()]
    seconds = time.monotonic() - began
    _wait_for_validations(url)
    return Load(answers, [*idle, *reader.rounds(IDLE_ROUNDS)], busy, seconds)


def submit(url: str, sources: Sequence[str], clients: int) -> None:
    """Submits from so many clients at once; prints each answer as a line of JSON."""
    with ThreadPoolExecutor(clients) as pool:
        for answers in pool.map(
            lambda number: list(_submit_all(url, sources[number::clients])), range(clients)
        ):
            for answer in answers:
                print(json.dumps(answer))


def _submit_all(url: str, sources: Sequence[str]) -> Iterator[Answer]:
    arena = ArenaClient(url, "hf_author")
    for source in sources:
        began, submission, refusal = time.monotonic(), None, None
        try:
            body = {"source": source, "title": TITLE}
            submission = arena.post("/submissions", body)["submission"]["id"]
        except ArenaError as exc:
            refusal = exc.message
        yield Answer(submission, refusal, time.monotonic() - began)


class Reader:
    """Reads pages and API, each in turn, and says how long each took."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=60)
        self._fills = {page: self._fill_of(page) for page in PAGES}

    def rounds(self, count: int) -> list[Read]:
        """Each address so many times."""
        return [read for _ in range(count) for read in self.round()]

    def round(self) -> list[Read]:
        """Each address once."""
        time.sleep(PAUSE)
        return [Read(address, self._read(address)) for address in (*PAGES, *API)]

    def _read(self, address: str) -> float:
        """One address; of a page also what the browser asks to fill it."""
        began = time.perf_counter()
        self._http.get(address).raise_for_status()
        if fill := self._fills.get(address):
            search = urlsplit(address).query
            self._http.post(f"/gradio_api/run/predict?{search}", json=fill).raise_for_status()
        return time.perf_counter() - began

    def _fill_of(self, page: str) -> dict[str, Any]:
        """The event that fills a page, as its configuration names it."""
        found = _CONFIG.search(self._http.get(page).text)
        assert found, f"{page} has no configuration"
        config = json.loads(found[1])
        values = {part["id"]: part["props"].get("value") for part in config["components"]}
        own = config["page"][config["current_page"]]["dependencies"]
        event = next(
            event
            for event in config["dependencies"]
            if event["id"] in own
            and event["api_name"].startswith(("show", "on_load", "lambda"))
            and any(kind == "load" for _, kind in event["targets"])
        )
        data = [values.get(part) for part in event["inputs"]]
        return {"data": data, "fn_index": event["id"], "session_hash": "bench"}


# Before and after


def publish_demo(hub: RunningHub, folder: Path) -> None:
    """What a check needs: the sealed index. No base model is needed, so a file stands for it."""
    model = folder / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    challenge = load_challenges(ROOT / "challenges").challenges["demo"]
    stack = Stack(Options(directory=folder))
    publish(hub.url, challenge, model, stack.env("app")["ARENA_SUITE_KEY"].encode())


def _publish_collections(hub: RunningHub, folder: Path, count: int, clients: int) -> list[str]:
    """Distinct collections of one task, in a repository for each client; gives their addresses."""
    sources = [""] * count
    for client in range(clients):
        root = folder / "collections" / f"of-{client}"
        for number in range(client, count, clients):
            write_collection(root / f"c{number}", 1, f"word{number}x")
        repo = f"author/of-{client}"
        upload(hub.api("author"), repo, root)
        for number in range(client, count, clients):
            sources[number] = f"hf:{repo}@main:c{number}"
    return sources


def start_app(hub: RunningHub, folder: Path) -> tuple[Process, str]:
    """The app with the Space's budget, and limits that refuse nobody; gives its address too."""
    env, url = app_settings(hub, folder, COMMITS_PER_HOUR)
    return run_app(env, url, folder), url


def app_settings(hub: RunningHub, folder: Path, per_hour: int) -> tuple[dict[str, str], str]:
    """The environment and the address of an app on `hub` that refuses nobody for a limit's sake."""
    challenges = folder / "challenges"
    shutil.copytree(ROOT / "challenges", challenges)
    rules = yaml.safe_load((challenges / "arena.yaml").read_text())
    rules["limits"] = dict.fromkeys(rules["limits"], 1_000_000)
    (challenges / "arena.yaml").write_text(yaml.safe_dump(rules))
    options = Options(
        directory=folder,
        port=free_port(),
        hub_port=urlsplit(hub.url).port or 0,
        challenges=challenges,
    )
    env = Stack(options).env("app") | {"ARENA_COMMITS_PER_HOUR": str(per_hour)}
    return env, options.url


def run_app(env: Mapping[str, str], url: str, folder: Path) -> Process:
    """Starts the app, and waits until it answers."""
    app = Process.start("app", [sys.executable, str(ROOT / "app.py")], env, folder / "logs")
    app.wait_until_answers(f"{url}/healthz", seconds=120)
    return app


def _wait_for_validations(url: str) -> None:
    deadline = time.monotonic() + 600
    while httpx.get(f"{url}/healthz").json()["queues"]["validations"]:
        if time.monotonic() > deadline:
            return  # what is missing is counted
        time.sleep(1)


def _commit_times(hub: RunningHub) -> list[float]:
    log = ["git", "--git-dir", str(hub.git_dir(STORE)), "log", "--format=%ct", "main"]
    return sorted(map(float, subprocess.run(log, capture_output=True, check=True).stdout.split()))


def _worst_hour(times: Sequence[float]) -> int:
    return max((sum(at - HOUR < t <= at for t in times) for at in times), default=0)


def _count(
    hub: RunningHub, cache: Path, submitted: int, answers: list[Answer], commits: list[float]
) -> Counts:
    store = Store(STORE, HfApi(endpoint=hub.url, token="hf_arena"), cache)
    reading = store.read_new(0)
    assert reading is not None
    entered = [r for r in reading.records if r.kind == "submission" and r.title == TITLE]
    validated = {r.submission for r in reading.records if r.kind == "validation"}
    ids, sources = Counter(r.id for r in entered), Counter(r.source for r in entered)
    told = {answer.submission for answer in answers if answer.submission}
    return Counts(
        submitted=submitted,
        acknowledged=len(told),
        lost=len(told - set(ids)),
        twice=sum(count > 1 for count in (ids + sources).values()),
        not_acknowledged=len(set(ids) - told),
        not_validated=len(set(ids) - validated),
        commits=len(commits),
        commits_in_an_hour=_worst_hour(commits),
    )


# The table


def show(load: Load, counts: Counts, clients: int) -> None:
    """Prints what was measured."""
    print(f"{counts.submitted:,} submissions from {clients} clients in {load.seconds:.0f} s")
    for name, value in counts._asdict().items():
        print(f"  {name.replace('_', ' '):<20}{value:>8,}")
    for message, count in Counter(answer.refusal for answer in load.answers).items():
        if message:
            print(f"  {count:>4,} times: {message}")
    waits = [answer.seconds for answer in load.answers if answer.submission]
    print(f"  acknowledged after  {median(waits):8.1f} s   99 % within {_p99(waits):.1f} s")
    print(f"\n{'reading, ms':<36}{'idle':>8}{'99 %':>8}{'loaded':>10}{'99 %':>8}{'ratio':>8}")
    for address in (*PAGES, *API):
        idle, busy = (
            [read.seconds * 1000 for read in reads if read.address == address]
            for reads in (load.idle, load.busy)
        )
        print(
            f"  {address:<34}{median(idle):8.1f}{_p99(idle):8.0f}"
            f"{median(busy):10.1f}{_p99(busy):8.0f}{median(busy) / median(idle):8.1f}"
        )


def _p99(values: Sequence[float]) -> float:
    return quantiles(values, n=100)[98] if len(values) > 1 else values[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=50)
    submitting = parser.add_subparsers(dest="command").add_parser("submit")
    submitting.add_argument("url")
    submitting.add_argument("sources", type=Path)
    submitting.add_argument("at_once", type=int)
    arguments = parser.parse_args()
    huggingface_hub.constants.HF_HUB_DISABLE_XET = True  # the local hub has LFS alone
    if arguments.command == "submit":
        submit(arguments.url, json.loads(arguments.sources.read_text()), arguments.at_once)
        return
    with tempfile.TemporaryDirectory() as folder:
        load, counts = put_load(Path(folder), arguments.submissions, arguments.clients)
    show(load, counts, arguments.clients)
    whole = counts.acknowledged == counts.submitted and not any(counts[2:6])
    sys.exit(0 if whole and counts.commits_in_an_hour <= COMMITS_PER_HOUR else 1)


if __name__ == "__main__":
    main()
