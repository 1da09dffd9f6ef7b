"""Measurements of near copies: `python -m bench.nearcopies quality|speed`."""

from __future__ import annotations

import argparse

from bench.nearcopies import speed


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what near copies are found, how fast.")
    commands = parser.add_subparsers(dest="command", required=True)
    of_speed = commands.add_parser("speed", help="time and memory by the suite's size")
    of_speed.add_argument("--tasks", default="1000,10000,50000", help="sizes of the suite")
    of_speed.add_argument("--packages", type=int, default=200)
    options = parser.parse_args()
    speed.main([int(size) for size in options.tasks.split(",")], options.packages)


if __name__ == "__main__":
    main()
