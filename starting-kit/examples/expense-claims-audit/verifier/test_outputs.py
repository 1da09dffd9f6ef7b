"""Checks /root/report by deciding every claim anew, from the files that stand beside this one.

The agent may have changed its own copies of them, so they are not read.
"""

import csv
import json
import re
import unittest
from collections import Counter, defaultdict
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, NamedTuple

REPORT = Path("/root/report")
HERE = Path(__file__).parent
MAX_BYTES = 1_000_000
TOLERANCE = 0.0101  # a cent, and what binary fractions add to it

DAY_MONTH_YEAR = {"EUR": (0, 1, 2), "GBP": (0, 1, 2), "USD": (1, 0, 2)}
NIGHT = {"London": 165, "New York": 165, "Paris": 165, "Zurich": 165}

Row = dict[str, str]


class Receipt(NamedTuple):
    day: date
    total: Decimal
    without_alcohol: Decimal


class Decision(NamedTuple):
    decision: str
    paid: Decimal
    remarks: list[str]


def rows_of(name: str) -> list[Row]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(text: str) -> Decimal:
    """Receipts print two decimals, so the last mark is the decimal one, whichever it is."""
    digits = re.sub(r"\D", "", text)
    return Decimal(digits) / 100


def read_receipts() -> dict[str, Receipt]:
    found: dict[str, Receipt] = {}
    for block in (HERE / "receipts.txt").read_text(encoding="utf-8").split("=" * 32 + "\n"):
        lines = block.splitlines()
        words = next(line.split() for line in lines if line.startswith(("SUMME ", "TOTAL ")))
        alcohol = sum(number(line.split()[-2]) for line in lines if line.endswith("(alc)"))
        parts = re.search(r"(\d{2})\D(\d{2})\D(\d{4})", block).groups()
        day, month, year = (int(parts[place]) for place in DAY_MONTH_YEAR[words[1]])
        total = number(words[2])
        name = re.search(r"R\d{4}", block).group()
        found[name] = Receipt(date(year, month, day), total, total - alcohol)
    return found


class Truth:
    def __init__(self) -> None:
        self.claims = rows_of("claims.csv")
        self.receipts = read_receipts()
        self.grades = {r["employee"]: r["grade"] for r in rows_of("employees.csv")}
        self.rates = {r["month"] + r["currency"]: Decimal(r["eur"]) for r in rows_of("rates.csv")}
        self.used: set[str] = set()
        refused = self.refused()
        self.meals: dict[str, Decimal] = defaultdict(Decimal)
        self.decisions = {
            row["claim_id"]: Decision("refused", Decimal(0), [refused[row["claim_id"]]])
            if row["claim_id"] in refused
            else self.paid(row)
            for row in self.claims
        }

    def euros(self, row: Row, value: Decimal) -> Decimal:
        rate = self.rates.get(row["date"][:7] + row["currency"], Decimal(1))
        return (value * rate).quantize(Decimal("0.01"), ROUND_HALF_UP)

    def refused(self) -> dict[str, str]:
        """The remark of each refused claim. In order of submission, duplicates show themselves."""
        found: dict[str, str] = {}
        for row in sorted(self.claims, key=lambda row: row["submitted"]):
            day, submitted = date.fromisoformat(row["date"]), date.fromisoformat(row["submitted"])
            receipt = self.receipts.get(row["receipt"])
            needless = row["kind"] == "mileage" or self.euros(row, Decimal(row["amount"])) <= 20
            if (submitted - day).days > 30:
                found[row["claim_id"]] = "late"
            elif receipt is None:
                if not needless:
                    found[row["claim_id"]] = "no_receipt"
            elif abs((receipt.day - day).days) > 1:
                found[row["claim_id"]] = "wrong_date"
            elif row["receipt"] in self.used:
                found[row["claim_id"]] = "duplicate"
            else:
                self.used.add(row["receipt"])
        return found

    def paid(self, row: Row) -> Decision:
        value, remarks = Decimal(row["amount"]), []
        if receipt := self.receipts.get(row["receipt"]):
            if value > receipt.total:
                remarks.append("over_receipt")
            if value > receipt.without_alcohol != receipt.total:
                remarks.append("alcohol")
            value = min(value, receipt.without_alcohol)
        euros = self.euros(row, value)
        limit = self.limit(row, euros)
        if euros > limit:
            remarks.append("capped")
        paid = min(euros, limit)
        if row["kind"] == "meal":
            self.meals[row["employee"] + row["date"]] += paid
        return Decision("reduced" if remarks else "paid", paid, remarks)

    def limit(self, row: Row, euros: Decimal) -> Decimal:
        if row["kind"] == "meal":
            return 45 - self.meals[row["employee"] + row["date"]]
        if row["kind"] == "mileage":
            cents = sum(30 if km < 100 else 20 for km in range(int(row["quantity"])))
            return Decimal(cents) / 100
        if row["kind"] == "hotel":
            director = self.grades[row["employee"]] == "director"
            night = NIGHT.get(row["city"], 120) * Decimal(1.25 if director else 1)
            return night * int(row["quantity"])
        return euros


def read(name: str) -> str:
    """What the agent wrote. Raises AssertionError where it wrote nothing."""
    path = REPORT / name
    if not path.is_file():
        raise AssertionError(f"{path} was not written")
    with path.open("rb") as file:
        return file.read(MAX_BYTES).decode("utf-8")


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.truth = Truth()

    def rows(self) -> list[list[str]]:
        rows = list(csv.reader(read("decisions.csv").splitlines()))
        self.assertEqual(rows[0], ["claim_id", "decision", "paid_eur", "remarks"])
        claims = [row[0] for row in rows[1:]]
        self.assertEqual(claims, list(self.truth.decisions), "claims, in order")
        return rows[1:]

    def assert_euros(self, found: Any, wanted: Decimal, what: str) -> None:
        self.assertIn(type(found), (int, float), f"{what}: {found!r} is not a number")
        self.assertAlmostEqual(found, float(wanted), delta=TOLERANCE, msg=what)

    def test_decisions_and_remarks(self) -> None:
        for (claim, decision, _, remarks), wanted in zip(
            self.rows(), self.truth.decisions.values(), strict=True
        ):
            with self.subTest(claim):
                self.assertEqual(decision, wanted.decision)
                self.assertEqual(remarks, ";".join(wanted.remarks))

    def test_amounts(self) -> None:
        for row, wanted in zip(self.rows(), self.truth.decisions.values(), strict=True):
            with self.subTest(row[0]):
                self.assertRegex(row[2], r"^\d+\.\d\d$")
                self.assert_euros(float(row[2]), wanted.paid, "paid")

    def test_totals_of_each_employee(self) -> None:
        claimed: dict[str, Decimal] = defaultdict(Decimal)
        paid: dict[str, Decimal] = defaultdict(Decimal)
        refused: Counter[str] = Counter()
        for row in self.truth.claims:
            decision = self.truth.decisions[row["claim_id"]]
            claimed[row["employee"]] += self.truth.euros(row, Decimal(row["amount"]))
            paid[row["employee"]] += decision.paid
            refused[row["employee"]] += decision.decision == "refused"
        employees = json.loads(read("totals.json"))["employees"]
        self.assertEqual(sorted(employees), sorted(claimed))
        for name, found in employees.items():
            self.assertEqual(sorted(found), ["claimed_eur", "paid_eur", "refused"])
            self.assert_euros(found["claimed_eur"], claimed[name], f"claimed by {name}")
            self.assert_euros(found["paid_eur"], paid[name], f"paid to {name}")
            self.assertEqual(found["refused"], refused[name], f"refused claims of {name}")

    def test_total_paid(self) -> None:
        total = sum((one.paid for one in self.truth.decisions.values()), Decimal(0))
        self.assert_euros(json.loads(read("totals.json"))["paid_eur"], total, "paid in all")

    def test_unused_receipts(self) -> None:
        wanted = sorted(self.truth.receipts.keys() - self.truth.used)
        self.assertEqual(json.loads(read("totals.json"))["unused_receipts"], wanted)


if __name__ == "__main__":
    unittest.main()
