"""Writes the seed data of `pump-cavitation-report`: a station's constants and its log.

    python starting-kit/generators/pump_cavitation_report.py OUT_DIR

The bytes are the same on every machine and at every call: only +, -, *, / and whole numbers.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

SEED = 20260311
START = datetime(2026, 3, 11, 4, 0, 0, tzinfo=UTC)
STEP_SEC = 20
SAMPLES = 450
OUTAGE = range(301, 318)
"""Samples that the logger lost, of every pump: more than five minutes."""

STATION: dict[str, Any] = {
    "site": "condensate return station",
    "barometric_kpa": 98.6,
    "density_kg_m3": 977.8,
    "gravity_m_s2": 9.81,
    "vapour_pressure": {
        "temp_c": [55, 60, 65, 70, 75, 80],
        "kpa_abs": [15.76, 19.95, 25.04, 31.20, 38.60, 47.41],
    },
    "cavitation": {"margin_below_m": 0.5, "min_duration_s": 90},
    "max_gap_s": 60,
    "pumps": {
        "P-101": {
            "suction_bore_mm": 150,
            "npsh_required": {"flow_m3h": [0, 40, 80, 120, 160], "m": [1.5, 1.8, 2.6, 3.9, 5.9]},
        },
        "P-102": {
            "suction_bore_mm": 125,
            "npsh_required": {"flow_m3h": [0, 30, 60, 90, 120], "m": [1.2, 1.4, 2.0, 3.1, 4.8]},
        },
        "P-103": {
            "suction_bore_mm": 150,
            "npsh_required": {"flow_m3h": [0, 40, 80, 120, 160], "m": [1.6, 2.0, 2.9, 4.3, 6.4]},
        },
    },
}

FAULTY = "-999.0"


@dataclass(frozen=True)
class Course:
    """What one pump goes through, in sample numbers.

    `dips`: stretches of low margin. `faults`: sample → column that the transmitter lost.
    """

    base_flow: float
    dips: tuple[range, ...]
    stops: tuple[range, ...]
    faults: dict[int, str]
    repeated: tuple[int, ...]
    """Samples logged first with a wrong reading, then again."""


COURSES = {
    "P-101": Course(
        96.0,
        # the second is too short; in the third a reading is lost; the outage cuts the last in two
        dips=(range(52, 70), range(110, 115), range(180, 192), range(288, 332)),
        stops=(range(230, 246),),
        faults={186: "suction_kpag", 61: "power_kw", 150: "temp_c", 400: "power_kw"},
        repeated=(75, 184, 350),
    ),
    "P-102": Course(
        71.0,
        # the pump stops for a moment in the middle of the second
        dips=(range(20, 26), range(90, 118), range(340, 347), range(410, 414)),
        stops=(range(101, 103), range(370, 390)),
        faults={93: "flow_m3h", 94: "flow_m3h", 95: "flow_m3h", 343: "suction_kpag"},
        repeated=(22, 97, 205, 420),
    ),
    "P-103": Course(
        88.0,
        dips=(range(140, 145), range(260, 268)),
        stops=(range(12),),
        faults={30: "power_kw", 31: "power_kw", 32: "power_kw", 200: "suction_kpag"},
        repeated=(142, 266),
    ),
}


def interpolate(x: float, xs: list[float], ys: list[float]) -> float:
    for x0, x1, y0, y1 in zip(xs, xs[1:], ys, ys[1:], strict=False):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    raise ValueError(f"{x} lies outside the table")


def suction_for(pump: str, margin: float, flow: float, temp: float) -> float:
    """The gauge pressure, in kPa, at which the pump has this margin over its required NPSH."""
    bore = STATION["pumps"][pump]["suction_bore_mm"] / 1000
    required = STATION["pumps"][pump]["npsh_required"]
    vapour = STATION["vapour_pressure"]
    speed = flow / 3600 / (3.141592653589793 * bore * bore / 4)
    gravity = STATION["gravity_m_s2"]
    head = margin + interpolate(flow, required["flow_m3h"], required["m"])
    head -= speed * speed / (2 * gravity)
    absolute = interpolate(temp, vapour["temp_c"], vapour["kpa_abs"])
    absolute += head * STATION["density_kg_m3"] * gravity / 1000
    return absolute - STATION["barometric_kpa"]


def noise(rng: random.Random) -> float:
    """About normal, of variance 1; sums are the same everywhere, logarithms need not be."""
    return sum(rng.random() for _ in range(12)) - 6


def rows_of(pump: str, course: Course, rng: random.Random) -> list[tuple[int, str]]:
    """The pump's lines, each with the sample number where it is due in the file."""
    rows: list[tuple[int, str]] = []
    flow, temp = course.base_flow, 66.0
    for n in range(SAMPLES):
        flow += (course.base_flow - flow) * 0.1 + noise(rng) * 0.8
        temp += (66.0 + 8.0 * n / SAMPLES - temp) * 0.05 + noise(rng) * 0.1
        stopped = any(n in stop for stop in course.stops)
        dipping = any(n in dip for dip in course.dips)
        # far enough from the limit that rounding to 0.1 decides nothing
        margin = -0.1 + noise(rng) * 0.12 if dipping else 1.3 + noise(rng) * 0.16
        margin = min(margin, 0.4) if dipping else max(margin, 0.62)
        seen_flow, seen_temp = round(flow, 1), round(temp, 1)
        if stopped:
            seen_flow = 0.0
        values = {
            "suction_kpag": suction_for(pump, margin, seen_flow, seen_temp),
            "flow_m3h": seen_flow,
            "temp_c": seen_temp,
            "power_kw": 0.4 if stopped else 6.0 + 0.16 * flow + noise(rng) * 0.2,
        }
        if n in OUTAGE:
            continue
        state = "STOP" if stopped else "RUN"
        if n in course.repeated:
            wrong = values | {"suction_kpag": values["suction_kpag"] + 21.0, "power_kw": 41.0}
            rows.append((n, line(pump, n, wrong, state)))
        texts = {column: f"{value:.1f}" for column, value in values.items()}
        if n in course.faults:
            texts[course.faults[n]] = FAULTY if n % 2 else ""
        late = 4 if n in course.repeated or rng.random() < 0.02 else 0
        rows.append((n + late, line(pump, n, texts, state)))
    return rows


def line(pump: str, n: int, values: dict[str, float] | dict[str, str], state: str) -> str:
    time = (START + timedelta(seconds=n * STEP_SEC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    cells = [v if isinstance(v, str) else f"{v:.1f}" for v in values.values()]
    return ",".join([time, pump, *cells, state])


def files() -> dict[str, str]:
    rng = random.Random(SEED)
    rows = [row for pump, course in COURSES.items() for row in rows_of(pump, course, rng)]
    rows.sort(key=lambda row: row[0])  # stable: a repeated sample stays after its first
    log = ["time,pump,suction_kpag,flow_m3h,temp_c,power_kw,state", *(text for _, text in rows)]
    return {
        "pump_log.csv": "\n".join(log) + "\n",
        "station.json": json.dumps(STATION, indent=2) + "\n",
    }


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
