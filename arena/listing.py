"""A long list of which only the part that is shown is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

Item = TypeVar("Item")
View = TypeVar("View")


class Listing(Sequence[View], Generic[Item, View]):
    """Views of items, each made when it is asked for."""

    def __init__(self, items: Sequence[Item], view: Callable[[Item], View]) -> None:
        self._items = items
        self._view = view

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> View: ...
    @overload
    def __getitem__(self, index: slice) -> list[View]: ...
    def __getitem__(self, index: int | slice) -> View | list[View]:
        if isinstance(index, slice):
            return [self._view(item) for item in self._items[index]]
        return self._view(self._items[index])
