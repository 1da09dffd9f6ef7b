"""Writes rates.csv and kinetics.json: `python3 kinetics.py DATA_DIR RESULTS_DIR`."""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any


@dataclass
class Sample:
    """A sample well; `rate` in µM per minute."""

    well: str
    inhibitor: str
    substrate: str
    rate: float


def fit_line(xs: list[float], ys: list[float]) -> tuple[float, float, float]:
    """Slope, intercept and R²."""
    x0, y0 = mean(xs), mean(ys)
    sxx = sum((x - x0) ** 2 for x in xs)
    sxy = sum((x - x0) * (y - y0) for x, y in zip(xs, ys, strict=True))
    slope = sxy / sxx
    intercept = y0 - slope * x0
    left = sum((y - intercept - slope * x) ** 2 for x, y in zip(xs, ys, strict=True))
    return slope, intercept, 1 - left / sum((y - y0) ** 2 for y in ys)


def fit_hyperbola(points: list[tuple[float, float]]) -> tuple[float, float]:
    """Vmax and Km by Levenberg–Marquardt steps on both."""
    vmax, km = max(v for _, v in points), median(s for s, _ in points)

    def loss(vmax: float, km: float) -> float:
        return sum((v - vmax * s / (km + s)) ** 2 for s, v in points)

    damping, error = 1e-3, loss(vmax, km)
    while damping < 1e12:
        a = b = c = d = e = 0.0
        for s, v in points:
            by_vmax, by_km = s / (km + s), -vmax * s / (km + s) ** 2
            residual = v - vmax * s / (km + s)
            a += by_vmax * by_vmax
            b += by_vmax * by_km
            c += by_km * by_km
            d += by_vmax * residual
            e += by_km * residual
        a, c = a * (1 + damping), c * (1 + damping)
        determinant = a * c - b * b
        new_vmax = vmax + (d * c - b * e) / determinant
        new_km = km + (a * e - b * d) / determinant
        new_error = loss(new_vmax, new_km) if new_km > 0 else float("inf")
        if new_error < error:
            vmax, km, error, damping = new_vmax, new_km, new_error, damping / 10
        else:
            damping *= 10
    return vmax, km


def load(data: Path) -> tuple[dict[str, Any], list[dict[str, str]], list[dict[str, str]]]:
    assay = json.loads((data / "assay.json").read_text(encoding="utf-8"))
    start, end = assay["initial_rate_window_s"]
    with (data / "plate.csv").open(encoding="utf-8", newline="") as file:
        window = [row for row in csv.DictReader(file) if start <= float(row["time_s"]) <= end]
    with (data / "layout.csv").open(encoding="utf-8", newline="") as file:
        layout = list(csv.DictReader(file))
    return assay, window, layout


def rates_and_flags(
    assay: dict[str, Any], window: list[dict[str, str]], layout: list[dict[str, str]]
) -> tuple[list[Sample], dict[str, str]]:
    """The unflagged samples in the order of the layout, and why the others were flagged."""
    times = [float(row["time_s"]) for row in window]
    blanks: dict[str, float] = {}
    slopes: dict[str, float] = {}
    flagged: dict[str, str] = {}
    for place in layout:
        texts = [row[place["well"]] for row in window]
        if assay["saturated"] in texts:
            flagged[place["well"]] = "saturated"
            continue
        slope, _, r_squared = fit_line(times, [float(text) for text in texts])
        if place["kind"] == "blank":
            blanks[place["substrate_um"]] = slope
        elif r_squared < assay["min_r_squared"]:
            flagged[place["well"]] = "not_linear"
        else:
            slopes[place["well"]] = slope
    per_absorbance = 60e6 / (assay["molar_absorptivity_per_M_cm"] * assay["path_length_cm"])
    samples = []
    for place in layout:
        if (well := place["well"]) in slopes:
            substrate = place["substrate_um"]
            rate = (slopes[well] - blanks[substrate]) * per_absorbance
            samples.append(Sample(well, place["inhibitor_um"], substrate, rate))
    groups = defaultdict(list)
    for sample in samples:
        groups[sample.inhibitor, sample.substrate].append(sample.rate)
    for sample in samples:
        middle = median(groups[sample.inhibitor, sample.substrate])
        if abs(sample.rate / middle - 1) > assay["max_deviation_from_median"]:
            flagged[sample.well] = "deviates"
    return [sample for sample in samples if sample.well not in flagged], flagged


def main() -> None:
    data, results = Path(sys.argv[1]), Path(sys.argv[2])
    assay, window, layout = load(data)
    samples, flagged = rates_and_flags(assay, window, layout)
    with (results / "rates.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["well", "inhibitor_um", "substrate_um", "rate_um_min"])
        writer.writerows([s.well, s.inhibitor, s.substrate, f"{s.rate:.5f}"] for s in samples)
    fits = []
    for inhibitor in sorted({sample.inhibitor for sample in samples}, key=float):
        points = [(float(s.substrate), s.rate) for s in samples if s.inhibitor == inhibitor]
        vmax, km = fit_hyperbola(points)
        fits.append(
            {
                "inhibitor_um": float(inhibitor),
                "vmax_um_min": round(vmax, 4),
                "km_um": round(km, 3),
                "wells": len(points),
            }
        )
    slope, intercept, _ = fit_line(
        [fit["inhibitor_um"] for fit in fits], [fit["km_um"] for fit in fits]
    )
    report = {
        "flagged": flagged,
        "fits": fits,
        "ki_um": round(intercept / slope, 3),
        "kcat_per_s": round(fits[0]["vmax_um_min"] / 60 / assay["enzyme_nM"] * 1000, 3),
    }
    text = json.dumps(report, indent=2)
    (results / "kinetics.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
