"""Bookings of meeting rooms by people in several time zones."""

from roombook.journal import replay
from roombook.store import Booking, Clash, Store

__all__ = ["Booking", "Clash", "Store", "replay"]
