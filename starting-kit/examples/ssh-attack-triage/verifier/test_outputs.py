"""Checks /root/out by triaging anew the log that stands beside this file.

The agent may have changed its own copy of it, so that one is not read.
"""

import csv
import json
import unittest
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any, NamedTuple

OUT = Path("/root/out")
HERE = Path(__file__).parent
MAX_BYTES = 1_000_000
WIDEST = {4: 24, 6: 64}

Address = IPv4Address | IPv6Address


class Event(NamedTuple):
    time: datetime
    host: str
    accepted: bool
    account: str
    address: Address


def events() -> list[Event]:
    """Every failure and login in order of time; a repeated message is as many events."""
    with (HERE / "hosts.csv").open(encoding="utf-8") as file:
        offsets = {row["host"]: row["utc_offset"] for row in csv.DictReader(file)}
    found: list[Event] = []
    for line in (HERE / "auth.log").read_text(encoding="utf-8").splitlines():
        month, day, clock, host, _, text = line.split(None, 5)
        count = 1
        if text.startswith("message repeated "):
            times, text = text.removeprefix("message repeated ").split(" times: [ ", 1)
            count, text = int(times), text.removesuffix("]")
        verdict, _, rest = text.partition(" for ")
        if verdict != "Failed password" and not verdict.startswith("Accepted "):
            continue
        stamp = f"2025 {month} {day} {clock} {offsets[host]}"
        time = datetime.strptime(stamp, "%Y %b %d %H:%M:%S %z").astimezone(UTC)
        account, written = rest.removeprefix("invalid user ").rsplit(" from ", 1)
        address = ip_address(written.split()[0])
        found += [Event(time, host, verdict[0] == "A", account, address)] * count
    return sorted(found, key=lambda event: event.time)


def is_brute_force(failures: list[Event]) -> bool:
    latest: dict[tuple[str, str], list[datetime]] = defaultdict(list)
    for failure in failures:
        times = latest[failure.host, failure.account]
        times.append(failure.time)
        if len(times) >= 12 and times[-1] - times[-12] <= timedelta(seconds=600):
            return True
    return False


def is_spraying(failures: list[Event]) -> bool:
    for end in failures:
        since = end.time - timedelta(seconds=1800)
        accounts = {one.account for one in failures if since <= one.time <= end.time}
        if len(accounts) >= 8:
            return True
    return False


class Truth:
    def __init__(self) -> None:
        seen = events()
        self.addresses = {event.address for event in seen}
        lines = (HERE / "allowlist.txt").read_text(encoding="utf-8").split()
        self.ours = [ip_network(line) for line in lines]
        self.failures: dict[Address, list[Event]] = defaultdict(list)
        for event in seen:
            if not event.accepted:
                self.failures[event.address].append(event)
        self.attackers: dict[Address, list[str]] = {}
        for address, failures in self.failures.items():
            tests = {"brute_force": is_brute_force, "spraying": is_spraying}
            kinds = [kind for kind, test in tests.items() if test(failures)]
            if kinds and not any(address in network for network in self.ours):
                self.attackers[address] = kinds
        self.compromised = [
            (event.account, event.host, event.address, written(event.time))
            for event in seen
            if event.accepted
            and event.address in self.attackers
            and event.time > self.failures[event.address][0].time
        ]

    def is_clean(self, network: Any) -> bool:
        if any(network.overlaps(other) for other in self.ours if other.version == network.version):
            return False
        return not any(one in network for one in self.addresses - self.attackers.keys())

    def fewest(self) -> int:
        """How many lines suffice. The widest clean networks of two attackers are one or apart."""
        blocks = set()
        for address in self.attackers:
            block = ip_network(address)
            while block.prefixlen > WIDEST[block.version] and self.is_clean(block.supernet()):
                block = block.supernet()
            blocks.add(block)
        return len(blocks)


def written(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def read(name: str) -> str:
    """What the agent wrote. Raises AssertionError where it wrote nothing."""
    path = OUT / name
    if not path.is_file():
        raise AssertionError(f"{path} was not written")
    with path.open("rb") as file:
        return file.read(MAX_BYTES).decode("utf-8")


class Incident(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.truth = Truth()

    def attackers(self) -> list[dict[str, Any]]:
        return json.loads(read("incident.json"))["attackers"]

    def blocks(self) -> list[Any]:
        return [ip_network(line.strip()) for line in read("block.txt").splitlines() if line.strip()]

    def test_attackers_and_kinds(self) -> None:
        found = [(str(ip_address(one["address"])), one["kinds"]) for one in self.attackers()]
        wanted = [(str(address), kinds) for address, kinds in self.truth.attackers.items()]
        self.assertEqual(sorted(found), sorted(wanted))

    def test_failures_and_times(self) -> None:
        attackers = self.attackers()
        for one in attackers:
            failures = self.truth.failures.get(ip_address(one["address"]), [])
            with self.subTest(one["address"]):
                self.assertEqual(one["failures"], len(failures))
                self.assertEqual(one["first"], written(failures[0].time))
                self.assertEqual(one["last"], written(failures[-1].time))
        firsts = [one["first"] for one in attackers]
        self.assertEqual(firsts, sorted(firsts), "attackers in order of their first failure")
        self.assertEqual(len(attackers), len(self.truth.attackers))

    def test_compromised_logins(self) -> None:
        found = [
            (one["account"], one["host"], ip_address(one["address"]), one["time"])
            for one in json.loads(read("incident.json"))["compromised"]
        ]
        self.assertEqual(found, self.truth.compromised)

    def test_every_attacker_is_blocked(self) -> None:
        blocks = self.blocks()
        open_to = [str(a) for a in self.truth.attackers if not any(a in block for block in blocks)]
        self.assertEqual(open_to, [])

    def test_nobody_else_is_blocked(self) -> None:
        unclean = [str(block) for block in self.blocks() if not self.truth.is_clean(block)]
        self.assertEqual(unclean, [])

    def test_as_few_lines_as_possible(self) -> None:
        blocks = self.blocks()
        wide = [str(block) for block in blocks if block.prefixlen < WIDEST[block.version]]
        self.assertEqual(wide, [], "wider than is allowed")
        self.assertEqual(len(blocks), self.truth.fewest(), "lines of block.txt")


if __name__ == "__main__":
    unittest.main()
