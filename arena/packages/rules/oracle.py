"""Rules about `oracle/`: the solution that must score 1.0."""

from __future__ import annotations

from collections.abc import Iterator

from arena.packages.reading import PackageText
from arena.packages.rules.rule import Fault
from arena.packages.rules.verifier import network_faults


def oracle_needs_no_network(package: PackageText) -> Iterator[Fault]:
    yield from network_faults(package, "oracle/", "while the oracle runs")
