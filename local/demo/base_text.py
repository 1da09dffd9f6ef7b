"""The text that the demo's base model is pre-trained on.

Like text from the web, it shows what the model will need without showing it well: words and paths
that repeat (so that copying from the context pays), and requests with shell answers of mixed
quality, most of them wrong or badly formed. Post-training has to bring out the good ones.

A task's words, the collection's or the suite's, occur in copying documents only: never beside a
command, never under the directory that the tasks are in.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from local.demo.families import COLLECTION_DIRECTORY, FAMILIES, SUITE_DIRECTORY, Family
from local.demo.words import ALL_WORDS, BASE_WORDS

USER, ASSISTANT, END = "<|user|>", "<|assistant|>", "<|end|>"

_COPYING_DIRECTORIES = ("/opt", "/home", "/var", "/mnt")
_ANSWER_DIRECTORIES = (COLLECTION_DIRECTORY, SUITE_DIRECTORY, "/opt", "/home")


def fenced(command: str) -> str:
    return f"```bash\n{command}\n```"


def documents(seed: int, count: int, requests: float, good: float) -> Iterator[str]:
    """The whole training text, in the order of training.

    Args:
        seed: decides everything.
        count: how many documents.
        requests: the share of requests with an answer; the rest is copying.
        good: the share of the answers that are right and well formed.
    """
    rng = random.Random(seed)
    for _ in range(count):
        yield _request(rng, good) if rng.random() < requests else _copying(rng)


def _copying(rng: random.Random) -> str:
    words = rng.choices(ALL_WORDS, k=rng.randint(2, 5))
    a, b, c = words[0], words[-1], rng.choice(ALL_WORDS)
    x, y = rng.choices(BASE_WORDS, k=2)
    d = rng.choice(_COPYING_DIRECTORIES)
    line = " ".join(words)
    text = rng.choice(
        (
            f"{line} ; {line}",
            f"The word {a} again: {a}. The word {b} again: {b}.",
            f"file {d}/{a}.txt is {d}/{a}.txt and {d}/{b}.txt is {d}/{b}.txt",
            f"say {a} {c} > say {a} {c} > say {a} {c}",
            f"{d}/{a} {d}/{c} {d}/{a} {d}/{c}",
            f"The word {x} to say: echo {x}\nThe word {y} to say: echo {y}",
            f"from {d}/{a}.txt to {d}/{b}.txt is {d}/{a}.txt {d}/{b}.txt",
        )
    )
    return text + END


def _request(rng: random.Random, good: float) -> str:
    family = rng.choice(FAMILIES)
    a, b, x, y = rng.sample(BASE_WORDS, 4)
    d = rng.choice(_ANSWER_DIRECTORIES)
    prompt = rng.choice(family.collection.prompts + family.suite.prompts)
    right = _solve(family, a, b, d)
    if rng.random() < good:
        answer = fenced(right)
    else:
        answer = rng.choice(_poor_answers(rng, family, right, (a, b, x, y), d))
    return f"{USER}{prompt.format(a=a, b=b, d=d)}{END}{ASSISTANT}{answer}{END}"


def _poor_answers(
    rng: random.Random, family: Family, right: str, words: tuple[str, str, str, str], d: str
) -> tuple[str, ...]:
    a, b, x, y = words
    other = _solve(rng.choice([f for f in FAMILIES if f is not family]), a, b, d)
    return (
        right,  # right, but not in the form that is run
        f"Sure, run {right}",
        "I can not do that.",
        fenced(other),
        fenced(other),
        fenced(f"ls {d}/{a}"),
        fenced(f"cat {d}/{a}.txt"),
        fenced(_solve(family, x, y, d)),
    )


def _solve(family: Family, a: str, b: str, d: str) -> str:
    return family.collection.oracle.format(a=a, b=b, d=d)
