"""Writes the seed data of `expense-claims-audit`: a quarter's claims, receipts, staff and rates.

    python starting-kit/generators/expense_claims_audit.py OUT_DIR

The policy is written by hand and stands beside them. Amounts are whole cents until they are text.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

SEED = 2207
FIRST_DAY, DAYS = date(2025, 4, 1), 88
STAFF = (
    ("E01", "Amara Diallo", "director"),
    ("E02", "Jonas Weber", "staff"),
    ("E03", "Priya Nair", "staff"),
    ("E04", "Tom Hartley", "manager"),
    ("E05", "Lucia Ferrero", "director"),
    ("E06", "Sam Okafor", "staff"),
    ("E07", "Mei Tanaka", "manager"),
)
CITIES = {
    "EUR": ("Berlin", "Paris", "Lisbon", "Lyon"),
    "USD": ("New York", "Austin", "Denver"),
    "GBP": ("London", "Leeds", "Bristol"),
}
DATES = {"EUR": "{d:02}.{m:02}.{y}", "USD": "{m:02}/{d:02}/{y}", "GBP": "{d:02}/{m:02}/{y}"}
TITLES = {
    "hotel": ("Hotel Linden", "The Crown", "Harbour Inn", "Station Lodge"),
    "meal": ("Trattoria Nonna", "Diner 54", "Zum Anker", "The Green Fork"),
    "transport": ("City Cabs", "Regional Rail", "Airport Shuttle"),
}
ITEMS = {
    "hotel": ("Room", "Breakfast", "City tax"),
    "meal": ("Lunch of the day", "Main course", "Soup", "Water", "Coffee"),
    "transport": ("Ticket", "Ride"),
}
DRINKS = ("House wine", "Pale ale", "Pils 0.5")
PRICES_CENT = {"hotel": (9_000, 21_000), "meal": (900, 4_200), "transport": (600, 9_000)}
TWISTS = (
    *("none",) * 6,
    *("late", "unnamed", "not scanned", "wrong date", "next day", "twice", "twice, late first"),
    *("over", "drinks claimed", "drinks left out", "over, with drinks", "small", "days of meals"),
)
CLAIMS = 100
SPARE_RECEIPTS = 5


@dataclass(frozen=True)
class Claim:
    employee: str
    submitted: date
    day: date
    kind: str
    city: str
    quantity: int
    cents: int
    currency: str
    receipt: str

    def row(self, number: int) -> str:
        quantity = self.quantity if self.kind in ("hotel", "mileage") else ""
        cells = [f"C{number:03}", self.employee, self.submitted, self.day, self.kind, self.city]
        cells += [quantity, plain(self.cents), self.currency, self.receipt]
        return ",".join(map(str, cells))


def plain(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def as_printed(cents: int, currency: str) -> str:
    text = f"{cents // 100:,}.{cents % 100:02}"
    return text.translate(str.maketrans(",.", ".,")) if currency == "EUR" else text


class Quarter:
    """Claims and the receipts behind them, made one after another."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.claims: list[Claim] = []
        self.receipts: list[str] = []

    def fill(self) -> None:
        deck = [TWISTS[n % len(TWISTS)] for n in range(CLAIMS)]
        self.rng.shuffle(deck)
        for twist in deck:
            self.add(twist)
        for _ in range(8):
            self.add_mileage()
        for _ in range(SPARE_RECEIPTS):
            claim = self.claim()
            self.receipt(claim, claim.day, claim.cents, 0)
        self.rng.shuffle(self.claims)
        self.rng.shuffle(self.receipts)

    def claim(self, kind: str | None = None) -> Claim:
        rng = self.rng
        kind = kind or rng.choice(("hotel", "meal", "meal", "transport"))
        currency = rng.choice(("EUR", "EUR", "USD", "GBP"))
        day = FIRST_DAY + timedelta(days=rng.randrange(DAYS))
        quantity = rng.choice((1, 1, 2, 3, 8)) if kind == "hotel" else 1
        return Claim(
            employee=rng.choice(STAFF)[0],
            submitted=day + timedelta(days=rng.randrange(2, 29)),
            day=day,
            kind=kind,
            city=rng.choice(CITIES[currency]),
            quantity=quantity,
            cents=rng.randint(*PRICES_CENT[kind]) * quantity,
            currency=currency,
            receipt="",
        )

    def add(self, twist: str) -> None:
        rng = self.rng
        if twist == "days of meals":
            self.add_day_of_meals()
            return
        claim = self.claim("meal" if "drinks" in twist else None)
        if twist == "small":
            claim = replace(claim, kind="transport", cents=rng.randint(400, 1_500))
        if twist in ("small", "unnamed"):
            self.claims.append(claim)
            return
        if twist == "not scanned":
            self.claims.append(replace(claim, receipt=f"R{rng.randint(7000, 7999)}"))
            return
        printed = claim.day
        if twist in ("wrong date", "next day"):
            printed += timedelta(days=rng.choice((-3, 2, 4)) if twist == "wrong date" else 1)
        drinks = rng.randint(400, 1_600) if "drinks" in twist else 0
        claim = replace(claim, receipt=self.receipt(claim, printed, claim.cents, drinks))
        if twist in ("drinks claimed", "over, with drinks"):
            claim = replace(claim, cents=claim.cents + drinks)
        if twist.startswith("over"):
            claim = replace(claim, cents=claim.cents + rng.randint(100, 2_000))
        if twist == "late":
            claim = replace(claim, submitted=claim.day + timedelta(days=rng.randint(31, 60)))
        self.claims.append(claim)
        if twist.startswith("twice"):
            self.add_twin(claim, late=twist == "twice, late first")

    def add_twin(self, claim: Claim, late: bool) -> None:
        """The same receipt, claimed by a colleague who took part; `late`: the first one was."""
        others = [employee for employee, *_ in STAFF if employee != claim.employee]
        twin = replace(claim, employee=self.rng.choice(others))
        if late:
            # The day that the late one gives is older, so that it comes too late and yet first.
            wait = timedelta(days=30)
            late_one = replace(claim, day=claim.day - timedelta(days=1), submitted=claim.day + wait)
            self.claims[-1] = late_one
            twin = replace(twin, submitted=claim.day + wait)
        else:
            twin = replace(twin, submitted=claim.day + timedelta(days=self.rng.randint(2, 28)))
        self.claims.append(twin)

    def add_day_of_meals(self) -> None:
        first = self.claim("meal")
        for _ in range(3):
            cents = self.rng.randint(1_400, 2_800)
            meal = replace(first, cents=cents)
            self.claims.append(replace(meal, receipt=self.receipt(meal, meal.day, cents, 0)))

    def add_mileage(self) -> None:
        km = self.rng.randint(30, 260)
        fair = 30 * min(km, 100) + 20 * max(km - 100, 0)
        claim = replace(self.claim("transport"), kind="mileage", quantity=km, currency="EUR")
        cents = self.rng.choice((fair, 30 * km, fair - 150))
        self.claims.append(replace(claim, city=self.rng.choice(CITIES["EUR"]), cents=cents))

    def receipt(self, claim: Claim, printed: date, cents: int, drinks: int) -> str:
        """Print one for `cents` and, on top, `drinks`; returns its number."""
        rng, currency = self.rng, claim.currency
        number = f"R{1001 + len(self.receipts)}"
        day = DATES[currency].format(d=printed.day, m=printed.month, y=printed.year)
        kind = claim.kind if claim.kind in TITLES else "transport"
        first = cents * rng.randint(55, 90) // 100
        items = [(rng.choice(ITEMS[kind]), first, ""), (rng.choice(ITEMS[kind]), cents - first, "")]
        if drinks:
            half = drinks // 2
            poured = [(rng.choice(DRINKS), value, " (alc)") for value in (half, drinks - half)]
            items[1:1] = poured
        lines = [f"{rng.choice(TITLES[kind])}, {claim.city}"]
        lines += rng.choice(([f"Receipt {number}", day], [f"{day}   No. {number}"]))
        for name, value, mark in items:
            lines.append(f"{name:<20} {as_printed(value, currency):>10}{mark}")
        total = cents + drinks
        if currency == "EUR":
            lines.append(f"SUMME EUR {as_printed(total, currency)}")
            lines.append(f"enthaltene MwSt. 7 % {as_printed(total * 7 // 107, currency)}")
        else:
            lines.append(f"SUBTOTAL {as_printed(total * 9 // 10, currency)}")
            lines.append(f"TOTAL {currency} {as_printed(total, currency)}")
        self.receipts.append("\n".join(lines) + "\n")
        return number


def rates(rng: random.Random) -> str:
    """EUR for one unit, by month, with four decimals."""
    lines = ["month,currency,eur"]
    for month in range(4, 7):
        lines.append(f"2025-{month:02},GBP,1.{rng.randint(1500, 1900)}")
        lines.append(f"2025-{month:02},USD,0.{rng.randint(8600, 9200)}")
    return "\n".join(lines) + "\n"


def files(rng: random.Random) -> dict[str, str]:
    quarter = Quarter(rng)
    quarter.fill()
    header = "claim_id,employee,submitted,date,kind,city,quantity,amount,currency,receipt"
    rows = [claim.row(number) for number, claim in enumerate(quarter.claims, 1)]
    staff = ["employee,name,grade", *(",".join(one) for one in STAFF)]
    return {
        "claims.csv": "\n".join([header, *rows]) + "\n",
        "receipts.txt": ("=" * 32 + "\n").join(quarter.receipts),
        "employees.csv": "\n".join(staff) + "\n",
        "rates.csv": rates(rng),
    }


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files(random.Random(SEED)).items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
