"""Writes the seed data of `fifo-realised-gains`: a broker's ledger, splits and exchange rates.

    python starting-kit/generators/fifo_realised_gains.py OUT_DIR

The bytes are the same on every machine and at every call: amounts are whole numbers throughout.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

SEED = 52_0417
FIRST, LAST = date(2023, 1, 2), date(2025, 11, 28)


@dataclass(frozen=True)
class Listing:
    """A share: where it trades, from what price (in hundredths), how often, in which units.

    `lot`: quantities are multiples of it, so that splits leave whole shares.
    """

    symbol: str
    currency: str
    fee_currency: str
    offset_hours: int
    price: int
    fee: int
    trades: int
    lot: int


LISTINGS = (
    Listing("NORD", "EUR", "EUR", 1, 4_210, 495, 18, 1),
    Listing("HALE", "USD", "USD", -5, 13_875, 100, 26, 1),
    Listing("THMS", "GBX", "GBP", 0, 31_250, 695, 20, 4),
    Listing("KITA", "JPY", "JPY", 9, 184_000, 27_500, 22, 5),
)
# Share, day, new shares for old ones; and the price follows.
SPLITS = (
    ("HALE", date(2024, 3, 18), 3, 1),
    ("THMS", date(2024, 9, 2), 1, 4),
    # a purchase in Tokyo on the morning of that day is still one of the day before, in UTC
    ("KITA", date(2024, 12, 29), 6, 5),
)
RATES = {"USD": 9_350_000, "GBP": 11_320_000, "JPY": 71_500}
"""What a unit costs on the first day, in ten-millionths of a euro."""


@dataclass
class Trade:
    time: datetime
    booked: datetime
    listing: Listing
    side: str
    quantity: int
    price: int
    fee: int
    trade_id: str = ""
    cancels: Trade | None = None

    def line(self) -> str:
        if self.cancels:
            return f"{self.trade_id},{self.time.isoformat()},CANCEL,,,,,,,{self.cancels.trade_id}"
        share = self.listing
        return (
            f"{self.trade_id},{self.time.isoformat()},{self.side},{share.symbol},{self.quantity},"
            f"{cents(self.price)},{share.currency},{cents(self.fee)},{share.fee_currency},"
        )


def cents(amount: int) -> str:
    return f"{amount // 100}.{amount % 100:02}"


def split_factor(symbol: str, day: date) -> tuple[int, int]:
    new = old = 1
    for name, since, a, b in SPLITS:
        if name == symbol and day >= since:
            new, old = new * a, old * b
    return new, old


def times(listing: Listing, rng: random.Random) -> list[datetime]:
    """Local opening hours: those of Tokyo begin on the day before, in UTC."""
    zone = timezone(timedelta(hours=listing.offset_hours))
    days = sorted(rng.sample(range((LAST - FIRST).days), listing.trades))
    found = []
    for day in days:
        start = datetime.combine(FIRST + timedelta(days=day), datetime.min.time(), zone)
        local = start + timedelta(hours=8, minutes=rng.randrange(540), seconds=rng.randrange(60))
        found.append(local + timedelta(hours=5) if rng.random() < 0.15 else local)
    return found


def trades_of(listing: Listing, rng: random.Random) -> list[Trade]:
    held, price, factor = 0, listing.price, (1, 1)
    trades: list[Trade] = []
    for n, time in enumerate(times(listing, rng)):
        now = split_factor(listing.symbol, time.astimezone(UTC).date())
        if now != factor:
            held = held * now[0] * factor[1] // (now[1] * factor[0])
            price = price * now[1] * factor[0] // (now[0] * factor[1])
            factor = now
        price = price * (10_000 + rng.randrange(-650, 720)) // 10_000
        lots = held // listing.lot
        selling = n > 2 and lots > 6 and rng.random() < 0.48
        some = rng.randrange(lots // 4, lots) if selling else rng.randrange(6, 45)
        quantity = some * listing.lot
        held += -quantity if selling else quantity
        fee = listing.fee + rng.randrange(0, 4) * listing.fee // 5
        side = "SELL" if selling else "BUY"
        late = timedelta(days=9) if rng.random() < 0.06 else timedelta()
        trades.append(Trade(time, time + late, listing, side, quantity, price, fee))
    return trades


def slips(trades: list[Trade], rng: random.Random) -> list[Trade]:
    """Trades entered by mistake, and days later their cancellations."""
    found = []
    for trade in rng.sample(trades, 5):
        time = trade.time + timedelta(minutes=rng.randrange(2, 50))
        side = rng.choice(["BUY", "SELL"])
        slip = Trade(time, time, trade.listing, side, trade.quantity, trade.price, trade.fee)
        undone = time + timedelta(days=rng.randrange(2, 40))
        cancel = Trade(undone, undone, trade.listing, "CANCEL", 0, 0, 0, cancels=slip)
        found += [slip, cancel]
    return found


def twin(trade: Trade) -> Trade:
    """A second fill at the same second, at a worse price, that was booked later."""
    later = trade.booked + timedelta(days=1)
    return Trade(
        trade.time, later, trade.listing, "BUY", 3 * trade.listing.lot, trade.price + 37, trade.fee
    )


def ledger(rng: random.Random) -> str:
    trades = [trade for listing in LISTINGS for trade in trades_of(listing, rng)]
    twins = [twin(next(t for t in trades if t.listing is share)) for share in LISTINGS[:2]]
    trades += slips(trades, rng) + twins
    trades.sort(key=lambda trade: trade.booked)
    for n, trade in enumerate(trades, 1):
        trade.trade_id = f"T{n:04}"
    head = "trade_id,time,side,symbol,quantity,price,currency,fee,fee_currency,cancels"
    return "\n".join([head, *(trade.line() for trade in trades)]) + "\n"


def exchange_rates(rng: random.Random) -> str:
    """Euros per unit, on working days; a bank holiday is missing now and then."""
    lines = ["date,currency,eur_per_unit"]
    rates = dict(RATES)
    day = FIRST - timedelta(days=3)
    while day <= LAST + timedelta(days=3):
        holiday = rng.random() < 0.03 and day > FIRST
        for currency in rates:
            rates[currency] = rates[currency] * (100_000 + rng.randrange(-560, 565)) // 100_000
            if day.weekday() < 5 and not holiday:
                rate = rates[currency]
                lines.append(f"{day},{currency},{rate // 10_000_000}.{rate % 10_000_000:07}")
        day += timedelta(days=1)
    return "\n".join(lines) + "\n"


def files() -> dict[str, str]:
    rng = random.Random(SEED)
    splits = ["date,symbol,new_shares,old_shares"]
    splits += [f"{day},{symbol},{new},{old}" for symbol, day, new, old in SPLITS]
    return {
        "trades.csv": ledger(rng),
        "splits.csv": "\n".join(splits) + "\n",
        "fx.csv": exchange_rates(rng),
    }


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
