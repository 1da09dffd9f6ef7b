"""Writes the seed data of `enzyme-inhibition-kinetics`: a plate's readings and its layout.

    python starting-kit/generators/enzyme_inhibition_kinetics.py OUT_DIR

The bytes are the same on every machine and at every call: only +, -, *, / and whole numbers.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

SEED = 7741
TIMES_SEC = range(0, 181, 12)
SUBSTRATES_UM = (8, 16, 32, 64, 128, 256, 512)
INHIBITORS_UM = (0, 25, 75)
REPLICATES = 4

KM_UM, VMAX_UM_MIN, KI_UM = 41.0, 23.5, 32.0
ENZYME_NM = 12.5
PATH_CM = 0.58
ABSORPTIVITY_PER_M_CM = 6220
"""Of NADH at 340 nm, which the assay uses up or makes."""

ASSAY = {
    "wavelength_nm": 340,
    "molar_absorptivity_per_M_cm": ABSORPTIVITY_PER_M_CM,
    "path_length_cm": PATH_CM,
    "enzyme_nM": ENZYME_NM,
    "initial_rate_window_s": [12, 96],
    "min_r_squared": 0.98,
    "max_deviation_from_median": 0.25,
    "saturated": "OVER",
}

SPOILT = {
    "A7": "bubble",
    "B3": "bubble",
    "C10": "dead",
    "D6": "saturated",
    "E2": "double",
    "F9": "double",
    "G5": "bubble",
    "H8": "saturated late",
}
"""What went wrong in which well."""

SATURATED_FROM = {"saturated": 5, "saturated late": 12}
"""The number of the first reading beyond the reader's range: within the window, or after it."""


def noise(rng: random.Random) -> float:
    """About normal, of variance 1; sums are the same everywhere, logarithms need not be."""
    return sum(rng.random() for _ in range(12)) - 6


def wells() -> list[tuple[str, str, int, int]]:
    """Each well in use: its name, `sample` or `blank`, inhibitor and substrate in µM.

    The plate was filled in columns of one substrate concentration, so that an inhibitor's
    replicates stand apart.
    """
    conditions = [
        ("sample", inhibitor, substrate)
        for substrate in SUBSTRATES_UM
        for _ in range(REPLICATES)
        for inhibitor in INHIBITORS_UM
    ]
    conditions += [("blank", 0, substrate) for substrate in SUBSTRATES_UM]
    names = [f"{row}{column}" for column in range(1, 13) for row in "ABCDEFGH"]
    return [(name, *condition) for name, condition in zip(names, conditions, strict=False)]


def rate(inhibitor: int, substrate: int) -> float:
    """Absorbance per second by competitive inhibition."""
    km = KM_UM * (1 + inhibitor / KI_UM)
    um_per_sec = VMAX_UM_MIN / 60 * substrate / (km + substrate)
    return um_per_sec * 1e-6 * ABSORPTIVITY_PER_M_CM * PATH_CM


def readings(name: str, kind: str, inhibitor: int, substrate: int, rng: random.Random) -> list[str]:
    fault = SPOILT.get(name)
    slope = 0.00003 + 0.00000015 * substrate  # the substrate decays by itself
    if kind == "sample" and fault != "dead":
        turnover = rate(inhibitor, substrate) * (1 + 0.035 * noise(rng))
        slope += 2 * turnover if fault == "double" else turnover
    start = 0.21 + 0.02 * rng.random()
    texts = []
    for n, t in enumerate(TIMES_SEC):
        # the reaction slows as its substrate is used up, beyond the window of initial rates
        course = t if t <= 100 else 100 + (t - 100) * 0.82
        value = start + slope * course + 0.00015 * noise(rng)
        if fault == "bubble" and 4 <= n <= 5:
            value += 0.31
        if n == 0:
            value += 0.018  # the plate had just been shaken
        over = n >= SATURATED_FROM.get(fault, len(TIMES_SEC))
        texts.append("OVER" if over else f"{value:.4f}")
    return texts


def files() -> dict[str, str]:
    rng = random.Random(SEED)
    used = wells()
    layout = ["well,kind,inhibitor_um,substrate_um"]
    layout += [",".join(map(str, well)) for well in used]
    columns = [readings(*well, rng) for well in used]
    plate = ["time_s," + ",".join(name for name, *_ in used)]
    plate += [",".join([str(t), *row]) for t, *row in zip(TIMES_SEC, *columns, strict=True)]
    return {
        "plate.csv": "\n".join(plate) + "\n",
        "layout.csv": "\n".join(layout) + "\n",
        "assay.json": json.dumps(ASSAY, indent=2) + "\n",
    }


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
