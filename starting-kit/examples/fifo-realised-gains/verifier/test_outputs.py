"""Checks /root/statement against the broker's files that stand beside this file.

The agent may have changed its own copies of them, so they are not read. All sums are exact.
"""

import csv
import json
import re
import unittest
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

STATEMENT = Path("/root/statement")
HERE = Path(__file__).parent
MAX_BYTES = 1_000_000

AMOUNT_TOLERANCE = 0.02
TOTAL_TOLERANCE = 0.10
LONG_TERM_DAYS = 365


@dataclass
class Lot:
    buy_id: str
    symbol: str
    day: date
    quantity: Fraction
    cost: Fraction


class Match(NamedTuple):
    """A lot, or a part of it, that a sale used."""

    sell_id: str
    buy_id: str
    symbol: str
    quantity: Fraction
    proceeds: Fraction
    cost: Fraction
    days: int
    year: int


class Rates:
    def __init__(self, rows: list[dict[str, str]]) -> None:
        self._published: dict[str, list[tuple[date, Fraction]]] = defaultdict(list)
        for row in rows:
            published = (date.fromisoformat(row["date"]), Fraction(row["eur_per_unit"]))
            self._published[row["currency"]].append(published)
        for rates in self._published.values():
            rates.sort()

    def eur(self, currency: str, day: date) -> Fraction:
        """Euros per unit."""
        if currency == "EUR":
            return Fraction(1)
        if currency == "GBX":
            return self.eur("GBP", day) / 100
        rates = self._published[currency]
        return rates[bisect_right(rates, day, key=lambda rate: rate[0]) - 1][1]


def rows_of(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def instant(row: dict[str, str]) -> datetime:
    return datetime.fromisoformat(row["time"]).astimezone(UTC)


def expected() -> tuple[list[Match], list[Lot]]:
    """What the sales used, in order, and the lots that are left."""
    rows, rates = rows_of("trades.csv"), Rates(rows_of("fx.csv"))
    undone = {row["cancels"] for row in rows if row["side"] == "CANCEL"}
    trades = [r for r in rows if r["side"] != "CANCEL" and r["trade_id"] not in undone]
    trades.sort(key=lambda row: (instant(row), row["trade_id"]))
    splits = sorted(rows_of("splits.csv"), key=lambda row: row["date"])
    lots: dict[str, list[Lot]] = defaultdict(list)
    matches: list[Match] = []
    for row in trades:
        day = instant(row).date()
        while splits and date.fromisoformat(splits[0]["date"]) <= day:
            split = splits.pop(0)
            for lot in lots[split["symbol"]]:
                lot.quantity *= Fraction(int(split["new_shares"]), int(split["old_shares"]))
        quantity = Fraction(row["quantity"])
        amount = quantity * Fraction(row["price"]) * rates.eur(row["currency"], day)
        fee = Fraction(row["fee"]) * rates.eur(row["fee_currency"], day)
        held = lots[row["symbol"]]
        if row["side"] == "BUY":
            held.append(Lot(row["trade_id"], row["symbol"], day, quantity, amount + fee))
        else:
            matches += sell(held, row["trade_id"], day, quantity, amount - fee)
    return matches, [lot for symbol in sorted(lots) for lot in lots[symbol]]


def sell(
    held: list[Lot], sell_id: str, day: date, quantity: Fraction, proceeds: Fraction
) -> list[Match]:
    matches, each = [], proceeds / quantity
    while quantity:
        lot = held[0]
        part = min(quantity, lot.quantity)
        cost = lot.cost * part / lot.quantity
        days = (day - lot.day).days
        found = Match(sell_id, lot.buy_id, lot.symbol, part, each * part, cost, days, day.year)
        matches.append(found)
        lot.quantity, lot.cost = lot.quantity - part, lot.cost - cost
        quantity -= part
        if not lot.quantity:
            held.pop(0)
    return matches


def read(name: str) -> str:
    """What the agent wrote. Raises AssertionError where it wrote nothing."""
    path = STATEMENT / name
    if not path.is_file():
        raise AssertionError(f"{path} was not written")
    with path.open("rb") as file:
        return file.read(MAX_BYTES).decode("utf-8")


def shares(text: str) -> Fraction:
    """A number of shares as it is written; a Fraction of `1e999999999` would never be done."""
    if re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,12})?", text) is None:
        raise AssertionError(f"{text!r} is no number of shares")
    return Fraction(text)


class Statement(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.matches, cls.lots = expected()

    def table(self, name: str, columns: str) -> list[dict[str, str]]:
        """The file's rows, once its header is as asked for."""
        lines = read(name).splitlines()
        self.assertEqual(lines[:1], [columns], f"{name}: the header")
        return list(csv.DictReader(lines))

    def assert_amount(self, found: str, wanted: Fraction, what: str) -> None:
        self.assertRegex(found, r"\A-?[0-9]+\.[0-9]{2}\Z", f"{what}: two decimals")
        self.assertAlmostEqual(float(found), float(wanted), delta=AMOUNT_TOLERANCE, msg=what)

    def test_matched_lots(self) -> None:
        columns = "sell_id,buy_id,symbol,quantity,proceeds_eur,cost_eur,gain_eur,days_held"
        rows = self.table("realised.csv", columns)
        found = [(r["sell_id"], r["buy_id"], r["symbol"]) for r in rows]
        self.assertEqual(found, [(m.sell_id, m.buy_id, m.symbol) for m in self.matches])
        for row, match in zip(rows, self.matches, strict=True):
            what = f"{match.sell_id} of {match.buy_id}"
            self.assertEqual(shares(row["quantity"]), match.quantity, f"shares, {what}")
            self.assertEqual(int(row["days_held"]), match.days, f"days held, {what}")

    def test_realised_amounts(self) -> None:
        rows = {
            (r["sell_id"], r["buy_id"]): r
            for r in csv.DictReader(read("realised.csv").splitlines())
        }
        for match in self.matches:
            what = f"{match.sell_id} of {match.buy_id}"
            row = rows.get((match.sell_id, match.buy_id))
            self.assertIsNotNone(row, f"{what} is missing")
            self.assert_amount(row["proceeds_eur"], match.proceeds, f"proceeds, {what}")
            self.assert_amount(row["cost_eur"], match.cost, f"cost, {what}")
            self.assert_amount(row["gain_eur"], match.proceeds - match.cost, f"gain, {what}")

    def test_open_lots(self) -> None:
        rows = self.table("open_lots.csv", "buy_id,symbol,quantity,cost_eur")
        found = [(r["buy_id"], r["symbol"], shares(r["quantity"])) for r in rows]
        self.assertEqual(found, [(lot.buy_id, lot.symbol, lot.quantity) for lot in self.lots])
        for row, lot in zip(rows, self.lots, strict=True):
            self.assert_amount(row["cost_eur"], lot.cost, f"cost of {lot.buy_id}")

    def test_summary(self) -> None:
        summary: dict[str, Any] = json.loads(read("summary.json"))
        totals: dict[str, dict[str, Fraction]] = {}
        for match in self.matches:
            term = "long_term_eur" if match.days > LONG_TERM_DAYS else "short_term_eur"
            empty = {"short_term_eur": Fraction(0), "long_term_eur": Fraction(0)}
            year = totals.setdefault(str(match.year), empty)
            year[term] += match.proceeds - match.cost
        self.assertEqual(sorted(summary["years"]), sorted(totals), "the years")
        wanted = {(y, term): total for y in totals for term, total in totals[y].items()}
        found = {(y, term): summary["years"][y].get(term) for y, term in wanted}
        wanted["open cost", ""] = sum((lot.cost for lot in self.lots), Fraction(0))
        found["open cost", ""] = summary["open_cost_eur"]
        for key, total in wanted.items():
            self.assertIn(type(found[key]), (int, float), f"{key}: {found[key]!r} is not a number")
            self.assertAlmostEqual(found[key], float(total), delta=TOTAL_TOLERANCE, msg=str(key))


if __name__ == "__main__":
    unittest.main()
