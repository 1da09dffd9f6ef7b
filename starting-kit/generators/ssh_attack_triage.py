"""Writes the seed data of `ssh-attack-triage`: three servers' logs with attacks among daily work.

    python starting-kit/generators/ssh_attack_triage.py OUT_DIR

All addresses are from the ranges that are kept for documentation.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

SEED = 3022
HOSTS = {"web": 120, "db": -240, "git": 330}
"""Minutes ahead of UTC."""

ALLOWLIST = ("192.0.2.0/28", "2001:db8:ff::/48")
FIRST = datetime(2025, 5, 12, 0, 0, 0)
"""In UTC, as all times here until they are written."""

STAFF = ("anna", "bao", "carlos", "deploy", "eszter", "femi", "greta", "hiro", "ines", "jan")
GUESSES = (
    *("admin", "test", "oracle", "ubuntu", "postgres", "guest", "pi", "ftp", "nagios", "jenkins"),
    *("backup", "www", "minecraft", "steam", "support", "user"),
)
CROWDED = "198.51.100"
"""A provider's network in which attackers and customers are neighbours."""


@dataclass(frozen=True)
class Line:
    time: datetime
    host: str
    text: str


class Month:
    """The lines of all servers, in the order in which they are thought of."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[Line] = []
        last_bytes = rng.sample(range(8, 248), 22)
        self.neighbours = [f"{CROWDED}.{byte}" for byte in last_bytes[:6]]
        self.crowd = [f"{CROWDED}.{byte}" for byte in last_bytes[6:]]

    def write(self, time: datetime, host: str, text: str) -> None:
        self.lines.append(Line(time, host, text))

    def fail(self, time: datetime, host: str, account: str, address: str, count: int = 1) -> None:
        known = account in STAFF or account == "root"
        name = account if known else f"invalid user {account}"
        port = self.rng.randint(32_000, 60_000)
        failed = f"Failed password for {name} from {address} port {port} ssh2"
        self.write(time, host, failed)
        if self.rng.random() < 0.15:
            user = f"  user={account}" if known else ""
            pam = "pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh"
            self.write(time, host, f"{pam} ruser= rhost={address}{user}")
        if count > 1:
            later = time + timedelta(seconds=2 * count)
            self.write(later, host, f"message repeated {count - 1} times: [ {failed}]")

    def accept(self, time: datetime, host: str, account: str, address: str) -> None:
        port = self.rng.randint(32_000, 60_000)
        how = self.rng.choice(("publickey", "publickey", "password"))
        key = ": ED25519 SHA256:uT0fYq" if how == "publickey" else ""
        text = f"Accepted {how} for {account} from {address} port {port} ssh2{key}"
        self.write(time, host, text)

    def some_time(self) -> datetime:
        return FIRST + timedelta(seconds=self.rng.randrange(5 * 86_400))

    def fill(self) -> None:
        self.add_daily_work()
        self.add_clumsy_people()
        for address in [*self.crowd[:9], "203.0.113.9", "203.0.113.10", "2001:db8:7::1f"]:
            self.add_brute_force(address)
        for address in [*self.crowd[9:13], "203.0.113.200", "2001:db8:7::a", "2001:db8:7::b"]:
            self.add_spraying(address)
        self.add_successes()
        self.add_near_misses()
        self.add_typed_addresses()

    def add_daily_work(self) -> None:
        rng = self.rng
        homes = [*self.neighbours[:4], "203.0.113.11", "203.0.113.77", "2001:db8:9::4"]
        homes += ["192.0.2.3", "192.0.2.9", "2001:db8:ff::21"]
        for _ in range(150):
            time, host = self.some_time(), rng.choice(list(HOSTS))
            account, address = rng.choice(STAFF), rng.choice(homes)
            for _ in range(rng.choice((0, 0, 0, 1, 2))):
                self.fail(time, host, account, address)
                time += timedelta(seconds=rng.randint(3, 20))
            self.accept(time, host, account, address)

    def add_clumsy_people(self) -> None:
        """Many failures that are no attack: spread out, or from a network of our own."""
        time = self.some_time()
        for _ in range(16):
            self.fail(time, "git", "ines", self.neighbours[4])
            time += timedelta(seconds=self.rng.randint(61, 90))
        time = self.some_time()
        for _ in range(30):
            self.fail(time, "db", "deploy", "192.0.2.5")
            time += timedelta(seconds=10)

    def add_brute_force(self, address: str) -> None:
        rng = self.rng
        time, host = self.some_time(), rng.choice(list(HOSTS))
        account = rng.choice(("root", "deploy", "admin"))
        left = rng.randint(13, 36)
        while left > 0:
            count = min(left, rng.choice((1, 1, 1, 3, 5)))
            self.fail(time, host, account, address, count)
            left -= count
            time += timedelta(seconds=rng.randint(11, 22))

    def add_spraying(self, address: str) -> None:
        """Account after account, each tried on one server after another."""
        rng = self.rng
        time = self.some_time()
        for account in rng.sample(GUESSES, rng.randint(9, 12)):
            self.fail(time, rng.choice(list(HOSTS)), account, address)
            time += timedelta(seconds=rng.randint(60, 140))

    def add_successes(self) -> None:
        """Two attackers get in; a third address was a colleague's the day before it attacked."""
        for address, account in ((self.crowd[13], "deploy"), ("2001:db8:7::c", "greta")):
            time = self.some_time()
            for _ in range(5):
                self.fail(time, "db", account, address, count=3)
                time += timedelta(seconds=15)
            self.accept(time, "db", account, address)
            self.accept(time + timedelta(minutes=7), "web", account, address)
        address = self.crowd[14]
        time = FIRST + timedelta(days=3, hours=self.rng.randrange(20))
        self.accept(time - timedelta(hours=3), "git", "jan", address)
        for _ in range(15):
            self.fail(time, "web", "root", address)
            time += timedelta(seconds=20)

    def add_near_misses(self) -> None:
        """What only looks like an attack, or only does not, where local times are compared."""
        rng = self.rng
        gateway, hidden = "203.0.113.140", self.crowd[15]
        time = FIRST + timedelta(days=2, hours=rng.randrange(8, 16))
        for n, account in enumerate(rng.sample(GUESSES, 8)):
            # Four at one hour on the clock of each server: hours apart.
            host, shift = (("web", 0), ("db", 360))[n % 2]
            self.fail(time + timedelta(minutes=shift + 3 * n), host, account, gateway)
        time = FIRST + timedelta(days=3, hours=rng.randrange(8, 16))
        for n, account in enumerate(rng.sample(GUESSES, 8)):
            self.fail(time + timedelta(minutes=3 * n), ("web", "db")[n % 2], account, hidden)
        time = FIRST + timedelta(days=4, hours=rng.randrange(8, 16))
        for _ in range(11):
            self.fail(time, "git", "root", self.neighbours[5])
            time += timedelta(seconds=15)

    def add_typed_addresses(self) -> None:
        """Account names that read like the log itself, and name somebody innocent."""
        time = self.some_time()
        for n in range(14):
            account = f"root from {self.neighbours[0]} port 22"
            self.fail(time + timedelta(seconds=9 * n), "web", account, "203.0.113.201")
        self.accept(time - timedelta(days=1), "web", "femi", "203.0.113.202")

    def log(self) -> Iterable[str]:
        for host, ahead in HOSTS.items():
            own = [line for line in self.lines if line.host == host]
            for line in sorted(own, key=lambda line: line.time):
                local = line.time + timedelta(minutes=ahead)
                stamp = f"May {local.day:2} {local:%H:%M:%S}"
                yield f"{stamp} {host} sshd[{self.rng.randint(900, 9999)}]: {line.text}\n"


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    month = Month(random.Random(SEED))
    month.fill()
    offsets = [
        f"{host},{'-' if ahead < 0 else '+'}{abs(ahead) // 60:02}:{abs(ahead) % 60:02}\n"
        for host, ahead in HOSTS.items()
    ]
    files = {
        "auth.log": "".join(month.log()),
        "hosts.csv": "host,utc_offset\n" + "".join(offsets),
        "allowlist.txt": "".join(f"{network}\n" for network in ALLOWLIST),
    }
    for name, text in files.items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
