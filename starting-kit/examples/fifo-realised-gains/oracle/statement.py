"""Writes the capital gains statement: `python3 statement.py DATA_DIR STATEMENT_DIR`."""

from __future__ import annotations

import csv
import json
import sys
from collections import deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, getcontext
from pathlib import Path

getcontext().prec = 50
PENNY = Decimal("0.01")
ONE_DAY = timedelta(days=1)

Row = dict[str, str]


@dataclass
class Lot:
    """Shares of one purchase. `factor`: the splits that had happened when it was bought.

    `remaining` counts shares as of that time, so that a split changes no lot.
    """

    trade: Row
    day: date
    factor: Decimal
    bought: Decimal
    remaining: Decimal
    cost_each: Decimal


class Market:
    """Exchange rates and splits."""

    def __init__(self, fx: list[Row], splits: list[Row]) -> None:
        self._rates = {
            (row["currency"], date.fromisoformat(row["date"])): Decimal(row["eur_per_unit"])
            for row in fx
        }
        self._splits = splits

    def euros(self, amount: Decimal, currency: str, day: date) -> Decimal:
        if currency == "EUR":
            return amount
        if currency == "GBX":
            amount, currency = amount / 100, "GBP"
        while (currency, day) not in self._rates:
            day -= ONE_DAY
        return amount * self._rates[currency, day]

    def factor(self, symbol: str, day: date) -> Decimal:
        """How many shares one original share has become by the end of `day`."""
        factor = Decimal(1)
        for row in self._splits:
            if row["symbol"] == symbol and date.fromisoformat(row["date"]) <= day:
                factor *= Decimal(row["new_shares"]) / Decimal(row["old_shares"])
        return factor


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def in_order(bookings: list[Row]) -> list[tuple[datetime, Row]]:
    """The trades that stand, by time in UTC."""
    gone = {row["cancels"] for row in bookings if row["cancels"]}
    trades = [
        (datetime.fromisoformat(row["time"]).astimezone(UTC), row)
        for row in bookings
        if row["side"] in ("BUY", "SELL") and row["trade_id"] not in gone
    ]
    return sorted(trades, key=lambda trade: (trade[0], trade[1]["trade_id"]))


def whole(quantity: Decimal) -> str:
    """A number of shares without the digits that a division leaves behind."""
    return f"{quantity.quantize(Decimal('0.000001')).normalize():f}"


def euros(amount: Decimal) -> str:
    return str(amount.quantize(PENNY))


def main() -> None:
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    market = Market(read(data / "fx.csv"), read(data / "splits.csv"))
    queues: dict[str, deque[Lot]] = {}
    realised: list[list[str | int]] = []
    years: dict[str, dict[str, Decimal]] = {}
    last = date.min
    for time, trade in in_order(read(data / "trades.csv")):
        last = day = time.date()
        symbol, quantity = trade["symbol"], Decimal(trade["quantity"])
        gross = market.euros(quantity * Decimal(trade["price"]), trade["currency"], day)
        fee = market.euros(Decimal(trade["fee"]), trade["fee_currency"], day)
        factor = market.factor(symbol, day)
        queue = queues.setdefault(symbol, deque())
        if trade["side"] == "BUY":
            queue.append(Lot(trade, day, factor, quantity, quantity, (gross + fee) / quantity))
            continue
        brings_each = (gross - fee) / quantity
        while quantity > Decimal("1e-9"):
            lot = queue[0]
            here = min(lot.remaining * factor / lot.factor, quantity)
            there = here * lot.factor / factor
            proceeds, cost, held = here * brings_each, there * lot.cost_each, (day - lot.day).days
            gain = proceeds - cost
            ids = [trade["trade_id"], lot.trade["trade_id"], symbol]
            realised.append([*ids, whole(here), euros(proceeds), euros(cost), euros(gain), held])
            term = "long_term_eur" if held > 365 else "short_term_eur"
            none = {"short_term_eur": Decimal(0), "long_term_eur": Decimal(0)}
            years.setdefault(str(day.year), none)[term] += gain
            quantity, lot.remaining = quantity - here, lot.remaining - there
            if lot.remaining < Decimal("1e-9"):
                queue.popleft()
    write(out, market, queues, realised, years, last)


def write(
    out: Path,
    market: Market,
    queues: dict[str, deque[Lot]],
    realised: list[list[str | int]],
    years: dict[str, dict[str, Decimal]],
    last: date,
) -> None:
    header = "sell_id,buy_id,symbol,quantity,proceeds_eur,cost_eur,gain_eur,days_held"
    write_csv(out / "realised.csv", header, realised)
    left: list[list[str | int]] = []
    open_cost = Decimal(0)
    for symbol, queue in sorted(queues.items()):
        for lot in queue:
            shares = lot.remaining * market.factor(symbol, last) / lot.factor
            cost = lot.remaining * lot.cost_each
            left.append([lot.trade["trade_id"], symbol, whole(shares), euros(cost)])
            open_cost += cost
    write_csv(out / "open_lots.csv", "buy_id,symbol,quantity,cost_eur", left)
    summary = {
        "years": {
            year: {term: float(total.quantize(PENNY)) for term, total in terms.items()}
            for year, terms in sorted(years.items())
        },
        "open_cost_eur": float(open_cost.quantize(PENNY)),
    }
    (out / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")


def write_csv(path: Path, header: str, rows: list[list[str | int]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header.split(","))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
