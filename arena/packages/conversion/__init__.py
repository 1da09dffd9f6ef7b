"""Tasks in other formats, made into task packages; nothing of a source is lost silently."""

from arena.packages.conversion.convert import convert
from arena.packages.conversion.errors import DestinationInUse, NoTask, NotConverted
from arena.packages.conversion.report import ConversionReport, Left, Mapped
from arena.packages.formats import Format, recognise_format

__all__ = [
    "ConversionReport",
    "DestinationInUse",
    "Format",
    "Left",
    "Mapped",
    "NoTask",
    "NotConverted",
    "convert",
    "recognise_format",
]
