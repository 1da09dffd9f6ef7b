"""Finds attackers in sshd's logs and what to block: python3 triage.py DATA_DIR OUT_DIR"""

import csv
import json
import re
import sys
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path

YEAR = 2025
BRUTE_FORCE, BRUTE_FORCE_SEC = 12, 600
SPRAYING, SPRAYING_SEC = 8, 1800
WIDEST = {4: 24, 6: 64}

LINE = re.compile(r"(\w{3} +\d+ [\d:]{8}) (\S+) sshd\[\d+\]: (.*)")
REPEATED = re.compile(r"message repeated (\d+) times: \[ (.*)\]")
FAILED = re.compile(r"Failed password for (?:invalid user )?(.*) from (\S+) port \d+ ssh2")
ACCEPTED = re.compile(r"Accepted \S+ for (.*) from (\S+) port \d+ ssh2(?:: .*)?")
SEEN = re.compile(r".* rhost=(\S+)(?: +user=.*)?")


class Log:
    """What a log says: failures by address as (time, host, account), logins, all addresses."""

    def __init__(self, data):
        self.failures, self.logins, self.addresses = defaultdict(list), [], set()
        with (data / "hosts.csv").open(encoding="utf-8") as file:
            self.offsets = {row["host"]: row["utc_offset"] for row in csv.DictReader(file)}
        for line in (data / "auth.log").read_text(encoding="utf-8").splitlines():
            self.read(*LINE.fullmatch(line).groups())

    def read(self, stamp, host, text):
        local = datetime.strptime(f"{YEAR} {stamp} {self.offsets[host]}", "%Y %b %d %H:%M:%S %z")
        time = local.astimezone(UTC)
        repeated = REPEATED.fullmatch(text)
        count, text = (int(repeated[1]), repeated[2]) if repeated else (1, text)
        if failed := FAILED.fullmatch(text):
            account, address = failed[1], ip_address(failed[2])
            self.failures[address] += [(time, host, account)] * count
        elif accepted := ACCEPTED.fullmatch(text):
            account, address = accepted[1], ip_address(accepted[2])
            self.logins.append((time, host, account, address))
        elif seen := SEEN.fullmatch(text):
            address = ip_address(seen[1])
        else:
            return
        self.addresses.add(address)


def brute_force(failures):
    """Whether enough failures for one account on one server are close together."""
    times = defaultdict(list)
    for time, host, account in sorted(failures):
        times[host, account].append(time)
    window = timedelta(seconds=BRUTE_FORCE_SEC)
    return any(
        last - first <= window
        for own in times.values()
        for first, last in zip(own, own[BRUTE_FORCE - 1 :], strict=False)
    )


def spraying(failures):
    """Whether some window that begins with a failure has failures for enough accounts."""
    window = timedelta(seconds=SPRAYING_SEC)
    return any(
        len({account for time, _, account in failures if first <= time <= first + window})
        >= SPRAYING
        for first, *_ in failures
    )


def cover(network, attackers, innocent):
    """The fewest networks within `network` that hold all attackers and nobody else."""
    inside = [address for address in attackers if address in network]
    if not inside:
        return []
    if not any(network.overlaps(other) for other in innocent):
        return [network]
    halves = network.subnets()
    return [found for half in halves for found in cover(half, inside, innocent)]


def written(time):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def main():
    data, out = map(Path, sys.argv[1:])
    log = Log(data)
    ours = [ip_network(line) for line in (data / "allowlist.txt").read_text().split()]
    found = {}
    for address, failures in sorted(log.failures.items(), key=lambda item: min(item[1])):
        kinds = [kind.__name__ for kind in (brute_force, spraying) if kind(failures)]
        if kinds and not any(address in network for network in ours):
            found[address] = kinds
    attackers = []
    for address, kinds in found.items():
        times = [time for time, *_ in log.failures[address]]
        span = {"first": written(min(times)), "last": written(max(times))}
        about = {"address": str(address), "kinds": kinds, "failures": len(times)}
        attackers.append(about | span)
    compromised = [
        {"account": account, "host": host, "address": str(address), "time": written(time)}
        for time, host, account, address in sorted(log.logins, key=lambda login: login[0])
        if address in found and time > min(log.failures[address])[0]
    ]
    innocent = ours + [ip_network(address) for address in log.addresses - found.keys()]
    blocks = {ip_network((int(one), WIDEST[one.version]), strict=False) for one in found}
    lines = [f"{part}\n" for block in blocks for part in cover(block, found, innocent)]
    report = {"attackers": attackers, "compromised": compromised}
    (out / "incident.json").write_text(json.dumps(report, indent=2) + "\n")
    (out / "block.txt").write_text("".join(sorted(lines)))


if __name__ == "__main__":
    main()
