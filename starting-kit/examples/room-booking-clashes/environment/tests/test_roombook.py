"""python3 -m unittest tests.test_roombook"""

import unittest

from roombook import Clash, Store


class Bookings(unittest.TestCase):
    def setUp(self) -> None:
        self.store = Store()
        self.store.book("a", "oak", "2025-05-14T09:00+02:00", "2025-05-14T10:00+02:00")

    def test_an_overlap_is_refused(self) -> None:
        with self.assertRaises(Clash) as raised:
            self.store.book("b", "oak", "2025-05-14T09:30+02:00", "2025-05-14T10:30+02:00")
        self.assertEqual(raised.exception.other, "a")

    def test_back_to_back_is_fine(self) -> None:
        self.store.book("b", "oak", "2025-05-14T10:00+02:00", "2025-05-14T10:30+02:00")
        self.assertEqual([booking.id for booking in self.store.agenda("oak")], ["a", "b"])

    def test_a_move_may_overlap_the_old_time(self) -> None:
        self.store.move("a", "2025-05-14T09:30+02:00", "2025-05-14T10:30+02:00")
        self.assertEqual(self.store.agenda("oak")[0].start, "2025-05-14T09:30+02:00")

    def test_cancelled_time_is_free(self) -> None:
        self.store.cancel("a")
        self.store.book("b", "oak", "2025-05-14T09:00+02:00", "2025-05-14T10:00+02:00")


if __name__ == "__main__":
    unittest.main()
