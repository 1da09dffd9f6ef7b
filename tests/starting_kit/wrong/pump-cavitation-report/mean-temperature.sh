# The water's temperature hardly moves within a minute, so somebody takes the shift's mean.
mkdir -p /root/report
python3 - <<'PY'
import csv, json, math
from datetime import datetime
from itertools import groupby
st = json.load(open("/root/data/station.json"))
ts = lambda s: datetime.fromisoformat(s).timestamp()
seen = {}
for r in csv.DictReader(open("/root/data/pump_log.csv")):
    seen[(r["pump"], r["time"])] = r
def num(s):
    return None if s in ("", "-999.0") else float(s)
def lerp(x, xs, ys):
    for i in range(len(xs) - 1):
        if xs[i] <= x <= xs[i + 1]:
            return ys[i] + (ys[i + 1] - ys[i]) * (x - xs[i]) / (xs[i + 1] - xs[i])
out = []
for pump, rows in groupby(sorted(seen.values(), key=lambda r: (r["pump"], r["time"])), key=lambda r: r["pump"]):
    rows = list(rows)
    kw = [(ts(r["time"]), num(r["power_kw"])) for r in rows if num(r["power_kw"]) is not None]
    kwh = sum((b[0] - a[0]) * (a[1] + b[1]) / 7200 for a, b in zip(kw, kw[1:]) if b[0] - a[0] <= st["max_gap_s"])
    cfg = st["pumps"][pump]; marked = []
    temps = [num(r["temp_c"]) for r in rows if num(r["temp_c"]) is not None]
    mean = sum(temps) / len(temps)
    for r in rows:
        p, q, t = num(r["suction_kpag"]), num(r["flow_m3h"]), num(r["temp_c"])
        if None in (p, q, t): continue
        pv = lerp(mean, st["vapour_pressure"]["temp_c"], st["vapour_pressure"]["kpa_abs"])
        v = q / 3600 / (math.pi * (cfg["suction_bore_mm"] / 2000) ** 2)
        m = 1000 * (p + st["barometric_kpa"] - pv) / st["density_kg_m3"] / st["gravity_m_s2"] + v * v / 2 / st["gravity_m_s2"]
        m -= lerp(q, cfg["npsh_required"]["flow_m3h"], cfg["npsh_required"]["m"])
        marked.append((r["time"], m, r["state"] == "RUN" and m < st["cavitation"]["margin_below_m"]))
    group, labels = 0, []
    for i, x in enumerate(marked):
        if i and (not x[2] or not marked[i - 1][2] or ts(x[0]) - ts(marked[i - 1][0]) > st["max_gap_s"]):
            group += 1
        labels.append((group, x))
    eps = []
    for _, g in groupby([l for l in labels if l[1][2]], key=lambda l: l[0]):
        g = [x for _, x in g]
        dur = ts(g[-1][0]) - ts(g[0][0])
        if dur >= st["cavitation"]["min_duration_s"]:
            eps.append({"start": g[0][0], "end": g[-1][0], "lowest_margin_m": round(min(x[1] for x in g), 2)})
    out.append({"pump": pump, "energy_kwh": round(kwh, 2), "episodes": eps})
total = lambda p: sum(ts(e["end"]) - ts(e["start"]) for e in p["episodes"])
json.dump({"pumps": out, "inspect_first": max(out, key=total)["pump"]}, open("/root/report/pumps.json", "w"))
PY
