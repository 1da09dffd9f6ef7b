"""The words that the demo's tasks and its base model are about.

A task's word decides its answer, so the three sets are disjoint: what a model is taught with one
set can help it with another only as a skill.
"""

from __future__ import annotations

import random

_TEXT = """
apple banana cherry lemon mango olive peach pepper tomato onion garlic ginger carrot celery radish
tiger zebra monkey rabbit badger beaver falcon eagle parrot penguin pigeon salmon turtle lizard
river mountain valley forest desert island meadow canyon glacier harbor lagoon prairie volcano
copper silver cobalt nickel carbon helium oxygen argon iodine sulfur marble granite quartz amber
violin guitar piano trumpet cello flute drum banjo harp organ tuba oboe melody rhythm chorus
doctor farmer sailor soldier teacher painter writer baker tailor pilot singer dancer miner lawyer
castle bridge tower temple palace cottage stable garden market station museum library theater
winter summer autumn spring thunder lightning rainbow breeze shadow sunset morning evening midnight
hammer chisel anchor basket bottle candle curtain engine feather helmet jacket kettle ladder mirror
pocket ribbon saddle shovel ticket wallet window yellow purple orange crimson indigo violet bronze
spinach spider beetle summit cavern crystal judge chapel tunnel twilight dawn needle scarlet
"""

_ALL = _TEXT.split()
_ALL_SHUFFLED = random.Random(20).sample(_ALL, len(_ALL))

SUITE_WORDS = tuple(_ALL_SHUFFLED[:16])
COLLECTION_WORDS = tuple(_ALL_SHUFFLED[16:40])
BASE_WORDS = tuple(_ALL_SHUFFLED[40:])
"""The only words that the base model ever saw beside a shell command."""

ALL_WORDS = tuple(_ALL_SHUFFLED)
