# Banks settle on the next working day, so somebody takes the next published rate for a weekend.
mkdir -p /root/statement
python3 - <<'PY'
import csv, json
from bisect import bisect_left
from datetime import datetime, timezone, date
D, S = "/root/data/", "/root/statement/"
load = lambda n: list(csv.DictReader(open(D + n)))
fx = {}
for r in load("fx.csv"):
    fx.setdefault(r["currency"], []).append((r["date"], float(r["eur_per_unit"])))
def rate(cur, day):
    if cur == "EUR": return 1.0
    if cur == "GBX": return rate("GBP", day) / 100
    days = [d for d, _ in fx[cur]]
    return fx[cur][bisect_left(days, day)][1]
trades = load("trades.csv")
bad = {t["cancels"] for t in trades if t["side"] == "CANCEL"}
def utc(t):
    return datetime.fromisoformat(t["time"]).astimezone(timezone.utc)
events = [(utc(t).isoformat(), 1, t["trade_id"], t) for t in trades if t["side"] != "CANCEL" and t["trade_id"] not in bad]
events += [(s["date"] + "T00:00:00+00:00", 0, "", s) for s in load("splits.csv")]
events.sort(key=lambda e: e[:3])
book, rows, years = {}, [], {}
for when, kind, _, e in events:
    day = when[:10]
    lots = book.setdefault(e["symbol"], [])
    if kind == 0:
        for lot in lots:
            lot[2] = lot[2] * int(e["new_shares"]) / int(e["old_shares"])
            lot[3] = lot[3] * int(e["old_shares"]) / int(e["new_shares"])
        continue
    q = float(e["quantity"])
    gross = q * float(e["price"]) * rate(e["currency"], day)
    fee = float(e["fee"]) * rate(e["fee_currency"], day)
    if e["side"] == "BUY":
        lots.append([e["trade_id"], day, q, (gross + fee) / q])
        continue
    each = (gross - fee) / q
    while q > 1e-6:
        lot = lots[0]
        n = min(q, lot[2])
        held = (date.fromisoformat(day) - date.fromisoformat(lot[1])).days
        gain = n * each - n * lot[3]
        rows.append([e["trade_id"], lot[0], e["symbol"], round(n), f"{n * each:.2f}", f"{n * lot[3]:.2f}", f"{gain:.2f}", held])
        y = years.setdefault(day[:4], {"short_term_eur": 0, "long_term_eur": 0})
        y["long_term_eur" if held > 365 else "short_term_eur"] += round(gain, 2)
        q -= n; lot[2] -= n
        if lot[2] < 1e-6: lots.pop(0)
def dump(name, head, rows):
    with open(S + name, "w") as f:
        print(head, file=f)
        for r in rows: print(*r, sep=",", file=f)
dump("realised.csv", "sell_id,buy_id,symbol,quantity,proceeds_eur,cost_eur,gain_eur,days_held", rows)
left = [(l[0], s, round(l[2]), f"{l[2] * l[3]:.2f}") for s in sorted(book) for l in book[s]]
dump("open_lots.csv", "buy_id,symbol,quantity,cost_eur", left)
json.dump({"years": years, "open_cost_eur": sum(float(l[3]) for l in left)}, open(S + "summary.json", "w"))
PY
