"""A list that is this machine's own business: no record, and kept in a file over a restart."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from arena.wholefiles import put_whole

log = logging.getLogger(__name__)

Item = TypeVar("Item")


class KeptList(Generic[Item]):
    """A list in a file. A disk that takes or gives nothing costs what would have been kept alone.

    Args:
        name: what is kept, in the plural, for the log.
    """

    def __init__(self, file: Path, items: TypeAdapter[list[Item]], name: str) -> None:
        self._file = file
        self._items = items
        self._name = name

    def read(self) -> list[Item]:
        """What an earlier process kept."""
        try:
            return self._items.validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValidationError) as exc:
            kind = type(exc).__name__
            log.warning("the %s of an earlier process cannot be read: %s", self._name, kind)
            return []

    def write(self, items: Iterable[Item]) -> None:
        """Keeps these, and no others."""
        try:
            put_whole(self._file, self._items.dump_json([*items]))
        except OSError as exc:
            log.warning("the %s are not kept over a restart: %s", self._name, exc)
