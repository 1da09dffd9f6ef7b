"""Checks /root/report/pumps.json against the log and the constants that stand beside this file.

The agent may have changed its own copies of them, so they are not read.
"""

import csv
import json
import math
import unittest
from bisect import bisect_left
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

Row = dict[str, str]

REPORT = Path("/root/report/pumps.json")
HERE = Path(__file__).parent
MAX_BYTES = 1_000_000

ENERGY_TOLERANCE = 0.005  # of the expected energy
MARGIN_TOLERANCE_M = 0.03


def seconds(text: str) -> int:
    return int(datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp())


def iso(time: int) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def reading(text: str) -> float | None:
    return None if text == "" or float(text) == -999 else float(text)


def interpolate(x: float, xs: list[float], ys: list[float]) -> float:
    i = min(max(bisect_left(xs, x), 1), len(xs) - 1)
    share = (x - xs[i - 1]) / (xs[i] - xs[i - 1])
    return ys[i - 1] + share * (ys[i] - ys[i - 1])


def margin(row: Row, station: dict[str, Any]) -> float | None:
    """The sample's NPSH margin in metres; None where a reading is lost."""
    gauge, flow, temp = (reading(row[c]) for c in ("suction_kpag", "flow_m3h", "temp_c"))
    if gauge is None or flow is None or temp is None:
        return None
    pump, vapour = station["pumps"][row["pump"]], station["vapour_pressure"]
    area = math.pi * (pump["suction_bore_mm"] / 1000) ** 2 / 4
    pressure = gauge + station["barometric_kpa"]
    pressure -= interpolate(temp, vapour["temp_c"], vapour["kpa_abs"])
    available = pressure * 1000 / (station["density_kg_m3"] * station["gravity_m_s2"])
    available += (flow / 3600 / area) ** 2 / (2 * station["gravity_m_s2"])
    required = pump["npsh_required"]
    return available - interpolate(flow, required["flow_m3h"], required["m"])


def energy_kwh(rows: list[tuple[int, Row]], max_gap: float) -> float:
    points = [(t, reading(row["power_kw"])) for t, row in rows]
    points = [(t, power) for t, power in points if power is not None]
    joules = 0.0
    for (t0, p0), (t1, p1) in pairwise(points):
        if t1 - t0 <= max_gap:
            joules += (p0 + p1) / 2 * (t1 - t0)
    return joules / 3600


def episodes(rows: list[tuple[int, Row]], station: dict[str, Any]) -> list[tuple[int, int, float]]:
    """The reported episodes as (start, end, lowest margin), times in seconds."""
    limits = station["cavitation"]
    found: list[list[tuple[int, float]]] = []
    run: list[tuple[int, float]] = []
    for t, row in rows:
        value = margin(row, station)
        if value is None:
            continue
        low = row["state"] == "RUN" and value < limits["margin_below_m"]
        if run and (not low or t - run[-1][0] > station["max_gap_s"]):
            found.append(run)
            run = []
        if low:
            run.append((t, value))
    found.append(run)
    return [
        (run[0][0], run[-1][0], min(value for _, value in run))
        for run in found
        if run and run[-1][0] - run[0][0] >= limits["min_duration_s"]
    ]


def expected() -> dict[str, tuple[float, list[tuple[int, int, float]]]]:
    """Per pump its energy and its episodes."""
    station = json.loads((HERE / "station.json").read_text(encoding="utf-8"))
    samples: dict[str, dict[int, Row]] = {name: {} for name in sorted(station["pumps"])}
    with (HERE / "pump_log.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            samples[row["pump"]][seconds(row["time"])] = row
    rows = {name: sorted(by_time.items()) for name, by_time in samples.items()}
    return {
        name: (energy_kwh(rows[name], station["max_gap_s"]), episodes(rows[name], station))
        for name in rows
    }


def read_report() -> dict[str, Any]:
    """What the agent wrote. Raises AssertionError where it wrote no JSON."""
    if not REPORT.is_file():
        raise AssertionError(f"{REPORT} was not written")
    with REPORT.open("rb") as file:
        return json.loads(file.read(MAX_BYTES).decode("utf-8"))


class PumpReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.expected = expected()
        cls.report = read_report()
        cls.found = {pump["pump"]: pump for pump in cls.report["pumps"]}

    def test_shape(self) -> None:
        self.assertEqual(set(self.report), {"pumps", "inspect_first"})
        names = [pump["pump"] for pump in self.report["pumps"]]
        self.assertEqual(names, list(self.expected), "each pump once, in order of name")
        for pump in self.report["pumps"]:
            self.assertEqual(set(pump), {"pump", "energy_kwh", "episodes"})
            for episode in pump["episodes"]:
                self.assertEqual(set(episode), {"start", "end", "lowest_margin_m"})

    def test_energy(self) -> None:
        for name, (energy, _) in self.expected.items():
            with self.subTest(pump=name):
                found = self.found[name]["energy_kwh"]
                self.assertIn(type(found), (int, float), f"{name}: {found!r} is not a number")
                self.assertAlmostEqual(found, energy, delta=energy * ENERGY_TOLERANCE)

    def test_episode_times(self) -> None:
        for name, (_, wanted) in self.expected.items():
            with self.subTest(pump=name):
                found = [(e["start"], e["end"]) for e in self.found[name]["episodes"]]
                self.assertEqual(found, [(iso(start), iso(end)) for start, end, _ in wanted])

    def test_lowest_margins(self) -> None:
        for name, (_, wanted) in self.expected.items():
            with self.subTest(pump=name):
                found = [e["lowest_margin_m"] for e in self.found[name]["episodes"]]
                self.assertEqual(len(found), len(wanted), f"{name}: number of episodes")
                for value, (_, _, lowest) in zip(found, wanted, strict=True):
                    self.assertIn(type(value), (int, float), f"{value!r} is not a number")
                    self.assertAlmostEqual(value, lowest, delta=MARGIN_TOLERANCE_M)

    def test_pump_to_inspect_first(self) -> None:
        totals = {
            name: sum(end - start for start, end, _ in wanted)
            for name, (_, wanted) in self.expected.items()
        }
        self.assertEqual(self.report["inspect_first"], max(totals, key=totals.__getitem__))


if __name__ == "__main__":
    unittest.main()
