"""Measurements of near copies: `python -m bench.nearcopies quality|speed|hostile`."""

from __future__ import annotations

import argparse

from bench.nearcopies import hostile, quality, speed


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what near copies are found, how fast.")
    commands = parser.add_subparsers(dest="command", required=True)
    of_speed = commands.add_parser("speed", help="time and memory by the suite's size")
    of_speed.add_argument("--tasks", default="1000,10000,50000", help="sizes of the suite")
    of_speed.add_argument("--packages", type=int, default=200)
    of_quality = commands.add_parser("quality", help="share of copies found, innocents refused")
    of_quality.add_argument("--seeds", type=int, default=4, help="mutants a kind and original")
    of_quality.add_argument("--kinds", default="", help="only kinds that hold this word")
    of_hostile = commands.add_parser("hostile", help="cost of a collection made to be slow")
    of_hostile.add_argument("--packages", type=int, default=200)
    options = parser.parse_args()
    if options.command == "quality":
        quality.main(options.seeds, options.kinds)
    elif options.command == "hostile":
        hostile.main(options.packages)
    else:
        speed.main([int(size) for size in options.tasks.split(",")], options.packages)


if __name__ == "__main__":
    main()
