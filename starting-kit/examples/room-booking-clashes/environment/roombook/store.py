"""The bookings of each room, in order of time."""

from bisect import bisect_left
from dataclasses import dataclass, replace

from roombook.times import minutes


@dataclass(frozen=True)
class Booking:
    """A room from `start` until just before `end`; both stay written as they were given."""

    id: str
    room: str
    start: str
    end: str

    def __post_init__(self) -> None:
        if self.last <= self.first:
            raise ValueError(f"{self.id}: it ends at {self.end}, but begins at {self.start}")

    @property
    def first(self) -> int:
        return minutes(self.start)

    @property
    def last(self) -> int:
        return minutes(self.end)


class Clash(Exception):
    """The room is taken; `other` is the id of the earliest booking in the way."""

    def __init__(self, other: str) -> None:
        super().__init__(f"the room is taken by {other}")
        self.other = other


class Store:
    """Bookings that never overlap within a room. What raises leaves the store as it was."""

    def __init__(self) -> None:
        self._bookings: dict[str, Booking] = {}
        self._rooms: dict[str, list[Booking]] = {}

    def book(self, id: str, room: str, start: str, end: str) -> Booking:
        """Raises Clash where the room is taken, ValueError where the id is, or no time passes."""
        if id in self._bookings:
            raise ValueError(f"{id} is booked already")
        booking = Booking(id, room, start, end)
        index = self._place(booking)
        self._rooms.setdefault(room, []).insert(index, booking)
        self._bookings[id] = booking
        return booking

    def move(self, id: str, start: str, end: str) -> Booking:
        """Another time in the same room, which may overlap the old one. Raises as `book` does,
        and KeyError for an unknown id."""
        old = self._bookings[id]
        new = replace(old, start=start, end=end)
        agenda = self._rooms[old.room]
        index = agenda.index(old)
        del agenda[index]
        self._place(new)
        agenda.insert(index, new)
        self._bookings[id] = new
        return new

    def cancel(self, id: str) -> None:
        """Raises KeyError for an unknown id."""
        booking = self._bookings.pop(id)
        self._rooms[booking.room].remove(booking)

    def agenda(self, room: str) -> list[Booking]:
        """A room's bookings in order of time."""
        return list(self._rooms.get(room, []))

    def rooms(self) -> list[str]:
        """The names of the rooms that have bookings, sorted."""
        return sorted(room for room, agenda in self._rooms.items() if agenda)

    def _place(self, booking: Booking) -> int:
        """Where in its room's agenda a booking belongs. Raises Clash.

        Bookings of a room are in order and apart, so only the neighbours can be in the way.
        """
        agenda = self._rooms.get(booking.room, [])
        index = bisect_left(agenda, booking.first, key=lambda other: other.first)
        for other in agenda[max(index - 1, 0) : index + 1]:
            if other.first < booking.last and booking.first < other.last:
                raise Clash(other.id)
        return index
