"""Writes the pump report: `python3 report.py DATA_DIR REPORT`."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from math import pi
from pathlib import Path
from typing import Any, NamedTuple


class Sample(NamedTuple):
    """One line of the log; None stands for a lost reading."""

    time: datetime
    suction_kpag: float | None
    flow_m3h: float | None
    temp_c: float | None
    power_kw: float | None
    running: bool


class Low(NamedTuple):
    """A sample of a running pump below the limit."""

    time: datetime
    margin_m: float


def read_log(path: Path) -> dict[str, list[Sample]]:
    """Each pump's samples in order of time; a later line replaces an earlier one."""
    latest: dict[tuple[str, datetime], Sample] = {}
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        next(lines)
        for time, pump, *readings, state in lines:
            when = datetime.fromisoformat(time)
            values = [None if r in ("", "-999.0") else float(r) for r in readings]
            latest[pump, when] = Sample(when, *values, state == "RUN")
    pumps: dict[str, list[Sample]] = {}
    for (pump, _), sample in sorted(latest.items()):
        pumps.setdefault(pump, []).append(sample)
    return pumps


def along(table: list[tuple[float, float]], x: float) -> float:
    for (x0, y0), (x1, y1) in pairwise(table):
        if x0 <= x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    raise ValueError(f"{x} lies outside the table")


def margin_m(sample: Sample, pump: dict[str, Any], station: dict[str, Any]) -> float | None:
    if None in (sample.suction_kpag, sample.flow_m3h, sample.temp_c):
        return None
    vapour = station["vapour_pressure"]
    required = pump["npsh_required"]
    gravity = station["gravity_m_s2"]
    vapour_kpa = along(list(zip(vapour["temp_c"], vapour["kpa_abs"], strict=True)), sample.temp_c)
    static_kpa = sample.suction_kpag + station["barometric_kpa"] - vapour_kpa
    speed = sample.flow_m3h / 3600 / (pi / 4 * (pump["suction_bore_mm"] / 1000) ** 2)
    available = static_kpa * 1000 / (station["density_kg_m3"] * gravity) + speed**2 / gravity / 2
    curve = list(zip(required["flow_m3h"], required["m"], strict=True))
    return available - along(curve, sample.flow_m3h)


def runs(
    samples: list[Sample], pump: dict[str, Any], station: dict[str, Any]
) -> Iterator[list[Low]]:
    """Unbroken stretches of low margin, of any length."""
    current: list[Low] = []
    for sample in samples:
        margin = margin_m(sample, pump, station)
        if margin is None:
            continue
        low = sample.running and margin < station["cavitation"]["margin_below_m"]
        late = current and seconds_between(current[-1].time, sample.time) > station["max_gap_s"]
        if current and (late or not low):
            yield current
            current = []
        if low:
            current.append(Low(sample.time, margin))
    if current:
        yield current


def energy_kwh(samples: list[Sample], max_gap_s: float) -> float:
    powered = [s for s in samples if s.power_kw is not None]
    total = 0.0
    for a, b in pairwise(powered):
        seconds = seconds_between(a.time, b.time)
        if seconds <= max_gap_s:
            total += seconds * (a.power_kw + b.power_kw) / 2
    return total / 3600


def seconds_between(a: datetime, b: datetime) -> float:
    return (b - a).total_seconds()


def main() -> None:
    data, report = Path(sys.argv[1]), Path(sys.argv[2])
    station = json.loads((data / "station.json").read_text(encoding="utf-8"))
    pumps, durations = [], {}
    for name, samples in read_log(data / "pump_log.csv").items():
        found = [
            run
            for run in runs(samples, station["pumps"][name], station)
            if seconds_between(run[0].time, run[-1].time) >= station["cavitation"]["min_duration_s"]
        ]
        durations[name] = sum(seconds_between(run[0].time, run[-1].time) for run in found)
        described = [
            {
                "start": f"{run[0].time:%Y-%m-%dT%H:%M:%SZ}",
                "end": f"{run[-1].time:%Y-%m-%dT%H:%M:%SZ}",
                "lowest_margin_m": round(min(low.margin_m for low in run), 3),
            }
            for run in found
        ]
        energy = round(energy_kwh(samples, station["max_gap_s"]), 3)
        pumps.append({"pump": name, "energy_kwh": energy, "episodes": described})
    inspect = max(durations, key=durations.__getitem__)
    text = json.dumps({"pumps": pumps, "inspect_first": inspect}, indent=2)
    report.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
