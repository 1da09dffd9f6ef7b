# The double reciprocal plot is in every textbook, so somebody fits a straight line to 1/v.
mkdir -p /root/results
python3 - <<'PY'
import csv, json
from statistics import linear_regression, correlation, median
D, R = "/root/data/", "/root/results/"
A = json.load(open(D + "assay.json"))
lo, hi = A["initial_rate_window_s"]
plate = [r for r in csv.DictReader(open(D + "plate.csv")) if lo <= int(r["time_s"]) <= hi]
lay = list(csv.DictReader(open(D + "layout.csv")))
ts = [int(r["time_s"]) for r in plate]
flag, slope = {}, {}
for w in lay:
    ys = [r[w["well"]] for r in plate]
    if A["saturated"] in ys:
        flag[w["well"]] = "saturated"; continue
    ys = [float(y) for y in ys]
    if w["kind"] == "sample" and correlation(ts, ys) ** 2 < A["min_r_squared"]:
        flag[w["well"]] = "not_linear"; continue
    slope[w["well"]] = linear_regression(ts, ys).slope
blank = {w["substrate_um"]: slope[w["well"]] for w in lay if w["kind"] == "blank"}
k = 60 / A["molar_absorptivity_per_M_cm"] / A["path_length_cm"] * 1e6
rate = {w["well"]: (slope[w["well"]] - blank[w["substrate_um"]]) * k for w in lay if w["kind"] == "sample" and w["well"] in slope}
cond = {w["well"]: (w["inhibitor_um"], w["substrate_um"]) for w in lay}
med = {c: median(v for w, v in rate.items() if cond[w] == c) for c in set(cond.values()) if any(cond[w] == c for w in rate)}
for w, v in rate.items():
    if abs(v - med[cond[w]]) > A["max_deviation_from_median"] * med[cond[w]]:
        flag[w] = "deviates"
rate = {w: v for w, v in rate.items() if w not in flag}
with open(R + "rates.csv", "w") as f:
    f.write("well,inhibitor_um,substrate_um,rate_um_min\n")
    for w, v in rate.items():
        f.write(f"{w},{cond[w][0]},{cond[w][1]},{v:.4f}\n")
def fit(pts):
    m, c = linear_regression([1 / s for s, _ in pts], [1 / v for _, v in pts])
    return 1 / c, m / c
fits = []
for i in sorted({c[0] for c in cond.values()}, key=int):
    pts = [(int(cond[w][1]), v) for w, v in rate.items() if cond[w][0] == i]
    vmax, km = fit(pts)
    fits.append({"inhibitor_um": int(i), "vmax_um_min": vmax, "km_um": km, "wells": len(pts)})
m, c = linear_regression([f["inhibitor_um"] for f in fits], [f["km_um"] for f in fits])
json.dump({"flagged": flag, "fits": fits, "ki_um": c / m, "kcat_per_s": fits[0]["vmax_um_min"] / 60 / (A["enzyme_nM"] / 1e3)}, open(R + "kinetics.json", "w"))
PY
