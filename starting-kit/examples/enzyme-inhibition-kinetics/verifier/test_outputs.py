"""Checks /root/results against the readings that stand beside this file.

The agent may have changed its own copies of them, so they are not read.
"""

import csv
import json
import statistics
import unittest
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path("/root/results")
HERE = Path(__file__).parent
MAX_BYTES = 1_000_000

TOLERANCE = 0.01
KI_TOLERANCE = 0.02


class Well(NamedTuple):
    name: str
    kind: str
    inhibitor: float
    substrate: float


class Truth(NamedTuple):
    flagged: dict[str, str]
    rates: dict[Well, float]
    """Of the unflagged sample wells, in the order of the layout, in µM per minute."""


Points = list[tuple[float, float]]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def line(points: Points) -> tuple[float, float, float]:
    """Slope, intercept and R² of the least-squares line."""
    xs, ys = zip(*points, strict=True)
    slope, intercept = statistics.linear_regression(xs, ys)
    return slope, intercept, statistics.correlation(xs, ys) ** 2


def expected() -> Truth:
    assay = json.loads((HERE / "assay.json").read_text(encoding="utf-8"))
    plate = rows_of(HERE / "plate.csv")
    first, last = assay["initial_rate_window_s"]
    window = [row for row in plate if first <= float(row["time_s"]) <= last]
    wells = [
        Well(row["well"], row["kind"], float(row["inhibitor_um"]), float(row["substrate_um"]))
        for row in rows_of(HERE / "layout.csv")
    ]
    flagged: dict[str, str] = {}
    slopes: dict[Well, float] = {}
    for well in wells:
        texts = [(float(row["time_s"]), row[well.name]) for row in window]
        if any(text == assay["saturated"] for _, text in texts):
            flagged[well.name] = "saturated"
            continue
        slopes[well], _, r_squared = line([(t, float(text)) for t, text in texts])
        if well.kind == "sample" and r_squared < assay["min_r_squared"]:
            flagged[well.name] = "not_linear"
    blanks = {well.substrate: slopes[well] for well in wells if well.kind == "blank"}
    um_per_absorbance = 1e6 / assay["molar_absorptivity_per_M_cm"] / assay["path_length_cm"]
    rates = {
        well: (slope - blanks[well.substrate]) * um_per_absorbance * 60
        for well, slope in slopes.items()
        if well.kind == "sample" and well.name not in flagged
    }
    for well in deviating(rates, assay["max_deviation_from_median"]):
        flagged[well.name] = "deviates"
    return Truth(flagged, {w: rate for w, rate in rates.items() if w.name not in flagged})


def deviating(rates: dict[Well, float], share: float) -> list[Well]:
    replicates: dict[tuple[float, float], list[float]] = {}
    for well, rate in rates.items():
        replicates.setdefault((well.inhibitor, well.substrate), []).append(rate)
    found = []
    for well, rate in rates.items():
        median = statistics.median(replicates[well.inhibitor, well.substrate])
        if abs(rate - median) > share * median:
            found.append(well)
    return found


def michaelis_menten(points: Points) -> tuple[float, float]:
    """Vmax and Km. For each Km the best Vmax has a closed form, so one unknown is searched."""

    def best(km: float) -> tuple[float, float]:
        shapes = [s / (km + s) for s, _ in points]
        vmax = sum(x * v for x, (_, v) in zip(shapes, points, strict=True))
        vmax /= sum(x * x for x in shapes)
        error = sum((v - vmax * x) ** 2 for x, (_, v) in zip(shapes, points, strict=True))
        return error, vmax

    low, high = 0.001, 100_000.0
    while high / low > 1 + 1e-9:
        a, b = low ** (2 / 3) * high ** (1 / 3), low ** (1 / 3) * high ** (2 / 3)
        low, high = (low, b) if best(a)[0] < best(b)[0] else (a, high)
    return best(low)[1], low


def read(name: str) -> str:
    """What the agent wrote. Raises AssertionError where it wrote nothing."""
    path = RESULTS / name
    if not path.is_file():
        raise AssertionError(f"{path} was not written")
    with path.open("rb") as file:
        return file.read(MAX_BYTES).decode("utf-8")


class Kinetics(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.truth = expected()
        cls.found: dict[str, Any] = json.loads(read("kinetics.json"))
        points: dict[float, Points] = {}
        for well, rate in cls.truth.rates.items():
            points.setdefault(well.inhibitor, []).append((well.substrate, rate))
        cls.points = dict(sorted(points.items()))
        cls.fits = {inhibitor: michaelis_menten(some) for inhibitor, some in cls.points.items()}

    def assert_close(self, found: object, wanted: float, share: float, what: str) -> None:
        self.assertIn(type(found), (int, float), f"{what}: {found!r} is not a number")
        self.assertAlmostEqual(found, wanted, delta=abs(wanted) * share, msg=what)

    def test_flagged_wells(self) -> None:
        self.assertEqual(self.found["flagged"], self.truth.flagged)

    def test_rates(self) -> None:
        lines = list(csv.reader(read("rates.csv").splitlines()))
        self.assertEqual(lines[0], ["well", "inhibitor_um", "substrate_um", "rate_um_min"])
        names = [cells[0] for cells in lines[1:]]
        self.assertEqual(names, [well.name for well in self.truth.rates], "wells, in order")
        for cells, (well, rate) in zip(lines[1:], self.truth.rates.items(), strict=True):
            conditions = [float(cells[1]), float(cells[2])]
            self.assertEqual(conditions, [well.inhibitor, well.substrate], well.name)
            self.assert_close(float(cells[3]), rate, TOLERANCE, f"rate of {well.name}")

    def test_fits(self) -> None:
        found = self.found["fits"]
        self.assertEqual([fit["inhibitor_um"] for fit in found], list(self.fits))
        for fit, (inhibitor, (vmax, km)) in zip(found, self.fits.items(), strict=True):
            where = f"with {inhibitor:g} µM of inhibitor"
            self.assert_close(fit["vmax_um_min"], vmax, TOLERANCE, f"Vmax {where}")
            self.assert_close(fit["km_um"], km, TOLERANCE, f"Km {where}")
            self.assertEqual(fit["wells"], len(self.points[inhibitor]), f"wells {where}")

    def test_inhibition_constant(self) -> None:
        slope, intercept, _ = line([(i, km) for i, (_, km) in self.fits.items()])
        self.assert_close(self.found["ki_um"], intercept / slope, KI_TOLERANCE, "Ki in µM")

    def test_turnover_number(self) -> None:
        assay = json.loads((HERE / "assay.json").read_text(encoding="utf-8"))
        vmax_um_sec = self.fits[0][0] / 60
        kcat = vmax_um_sec / (assay["enzyme_nM"] / 1000)
        self.assert_close(self.found["kcat_per_s"], kcat, TOLERANCE, "kcat in 1/s")


if __name__ == "__main__":
    unittest.main()
