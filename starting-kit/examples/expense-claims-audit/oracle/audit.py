"""Decides expense claims: python3 audit.py DATA_DIR REPORT_DIR"""

import csv
import json
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

CENT = Decimal("0.01")
DATES = {"EUR": "%d.%m.%Y", "USD": "%m/%d/%Y", "GBP": "%d/%m/%Y"}
DEAR_CITIES = {"London", "New York", "Paris", "Zurich"}
MEALS_A_DAY = Decimal("45.00")


@dataclass
class Receipt:
    day: date
    total: Decimal
    alcohol: Decimal


@dataclass
class Claim:
    row: dict[str, str]
    refused: str = ""
    remarks: list[str] = field(default_factory=list)
    paid: Decimal = Decimal(0)

    @property
    def day(self) -> date:
        return date.fromisoformat(self.row["date"])

    @property
    def submitted(self) -> date:
        return date.fromisoformat(self.row["submitted"])


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def amount(text: str, currency: str) -> Decimal:
    if currency == "EUR":
        return Decimal(text.replace(".", "").replace(",", "."))
    return Decimal(text.replace(",", ""))


def receipts_of(text: str) -> dict[str, Receipt]:
    found = {}
    for block in re.split(r"^=+$", text, flags=re.MULTILINE):
        number = re.search(r"\bR\d{4}\b", block)
        if number is None:
            continue
        total = re.search(r"^(?:SUMME|TOTAL) +([A-Z]{3}) +(\S+)$", block, re.MULTILINE)
        currency = total[1]
        day = re.search(r"\d\d([./])\d\d\1\d{4}", block)[0]
        drinks = re.findall(r"(\S+) +\(alc\)$", block, re.MULTILINE)
        found[number[0]] = Receipt(
            day=datetime.strptime(day, DATES[currency]).date(),
            total=amount(total[2], currency),
            alcohol=sum((amount(drink, currency) for drink in drinks), Decimal(0)),
        )
    return found


class Audit:
    def __init__(self, data: Path) -> None:
        self.claims = [Claim(row) for row in rows_of(data / "claims.csv")]
        self.receipts = receipts_of((data / "receipts.txt").read_text(encoding="utf-8"))
        self.grades = {row["employee"]: row["grade"] for row in rows_of(data / "employees.csv")}
        self.rates = {
            (row["month"], row["currency"]): Decimal(row["eur"])
            for row in rows_of(data / "rates.csv")
        }

    def euros(self, claim: Claim, value: Decimal) -> Decimal:
        currency = claim.row["currency"]
        rate = Decimal(1) if currency == "EUR" else self.rates[claim.row["date"][:7], currency]
        return (value * rate).quantize(CENT, ROUND_HALF_UP)

    def claimed(self, claim: Claim) -> Decimal:
        return self.euros(claim, Decimal(claim.row["amount"]))

    def run(self) -> None:
        for claim in self.claims:
            claim.refused = self.refusal(claim)
        honoured = set()
        for claim in sorted(self.claims, key=lambda claim: claim.submitted):
            number = claim.row["receipt"]
            if claim.refused or number not in self.receipts:
                continue
            if number in honoured:
                claim.refused = "duplicate"
            honoured.add(number)
        self.honoured = honoured
        meals = defaultdict(lambda: MEALS_A_DAY)
        for claim in self.claims:
            if not claim.refused:
                self.pay(claim, meals)

    def refusal(self, claim: Claim) -> str:
        """By rules 1 to 3, which look at one claim alone."""
        receipt = self.receipts.get(claim.row["receipt"])
        if (claim.submitted - claim.day).days > 30:
            return "late"
        if receipt is None:
            free = claim.row["kind"] == "mileage" or self.claimed(claim) <= 20
            return "" if free else "no_receipt"
        return "wrong_date" if abs((receipt.day - claim.day).days) > 1 else ""

    def pay(self, claim: Claim, meals: dict[tuple[str, str], Decimal]) -> None:
        value = Decimal(claim.row["amount"])
        receipt = self.receipts.get(claim.row["receipt"])
        if receipt is not None:
            eligible = receipt.total - receipt.alcohol
            if value > receipt.total:
                claim.remarks.append("over_receipt")
            if receipt.alcohol and value > eligible:
                claim.remarks.append("alcohol")
            value = min(value, eligible)
        claim.paid = self.euros(claim, value)
        day = claim.row["employee"], claim.row["date"]
        limit = meals[day] if claim.row["kind"] == "meal" else self.limit(claim)
        if limit is not None and claim.paid > limit:
            claim.remarks.append("capped")
            claim.paid = limit
        if claim.row["kind"] == "meal":
            meals[day] -= claim.paid

    def limit(self, claim: Claim) -> Decimal | None:
        kind, quantity = claim.row["kind"], Decimal(claim.row["quantity"] or 0)
        if kind == "mileage":
            limit = min(quantity, 100) * Decimal("0.30") + max(quantity - 100, 0) * Decimal("0.20")
        elif kind == "hotel":
            limit = Decimal(165 if claim.row["city"] in DEAR_CITIES else 120) * quantity
            if self.grades[claim.row["employee"]] == "director":
                limit *= Decimal("1.25")
        else:
            return None
        return limit.quantize(CENT, ROUND_HALF_UP)

    def write(self, report: Path) -> None:
        totals: dict[str, dict[str, Decimal | int]] = {}
        with (report / "decisions.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["claim_id", "decision", "paid_eur", "remarks"])
            for claim in self.claims:
                remarks = [claim.refused] if claim.refused else claim.remarks
                decision = "refused" if claim.refused else "reduced" if claim.remarks else "paid"
                paid = f"{claim.paid:.2f}"
                writer.writerow([claim.row["claim_id"], decision, paid, ";".join(remarks)])
                new = {"claimed_eur": Decimal(0), "paid_eur": Decimal(0), "refused": 0}
                own = totals.setdefault(claim.row["employee"], new)
                own["claimed_eur"] += self.claimed(claim)
                own["paid_eur"] += claim.paid
                own["refused"] += bool(claim.refused)
        result = {
            "employees": totals,
            "paid_eur": sum(claim.paid for claim in self.claims),
            "unused_receipts": sorted(self.receipts.keys() - self.honoured),
        }
        (report / "totals.json").write_text(json.dumps(result, default=float, indent=2) + "\n")


if __name__ == "__main__":
    audit = Audit(Path(sys.argv[1]))
    audit.run()
    audit.write(Path(sys.argv[2]))
