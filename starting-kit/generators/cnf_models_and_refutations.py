"""Writes the seed data of `cnf-models-and-refutations`: four formulas, two of them unsatisfiable.

    python starting-kit/generators/cnf_models_and_refutations.py OUT_DIR

The bytes are the same on every machine and at every call: whole numbers throughout.
"""

from __future__ import annotations

import random
import sys
from itertools import combinations
from pathlib import Path

SEED = 90_210
Clause = list[int]


def table(variable: int, variables: int) -> int:
    """The variable's truth table: bit i is its value in the i-th of all assignments."""
    half = 1 << (variable - 1)
    block = ((1 << half) - 1) << half
    found, width = block, 2 * half
    while width < 1 << variables:
        found |= found << width
        width *= 2
    return found


def models(clauses: list[Clause], variables: int) -> int:
    """How many assignments satisfy all clauses."""
    every = (1 << (1 << variables)) - 1
    tables = {v: table(v, variables) for v in range(1, variables + 1)}
    left = every
    for clause in clauses:
        satisfied = 0
        for literal in clause:
            satisfied |= tables[literal] if literal > 0 else every ^ tables[-literal]
        left &= satisfied
    return left.bit_count()


def random_clause(variables: int, rng: random.Random) -> Clause:
    some = rng.sample(range(1, variables + 1), 3)
    return [v if rng.random() < 0.5 else -v for v in some]


def with_one_model(variables: int, rng: random.Random) -> list[Clause]:
    """Random clauses that a hidden assignment satisfies, until no other one does."""
    hidden = [v if rng.random() < 0.5 else -v for v in range(1, variables + 1)]
    clauses: list[Clause] = []
    while models(clauses, variables) > 1:
        clause = random_clause(variables, rng)
        if any(literal in hidden for literal in clause):
            clauses.append(clause)
    return clauses


def without_model(variables: int, rng: random.Random) -> list[Clause]:
    clauses: list[Clause] = []
    while models(clauses, variables):
        clauses.append(random_clause(variables, rng))
    return clauses


def pigeons(holes: int, rng: random.Random) -> list[Clause]:
    """One pigeon more than holes, among clauses about what has nothing to do with them."""

    def sits(pigeon: int, hole: int) -> int:
        return pigeon * holes + hole + 1

    birds = range(holes + 1)
    clauses = [[sits(p, h) for h in range(holes)] for p in birds]
    for h in range(holes):
        clauses += [[-sits(p, h), -sits(q, h)] for p, q in combinations(birds, 2)]
    clauses += [random_clause(14, rng) for _ in range(24)]
    return clauses


def disguised(clauses: list[Clause], variables: int, rng: random.Random) -> list[Clause]:
    """Variables renamed, some negated, everything in random order."""
    names = rng.sample(range(1, variables + 1), variables)
    signs = [rng.choice([1, -1]) for _ in range(variables)]

    def renamed(literal: int) -> int:
        v = abs(literal) - 1
        return names[v] * signs[v] * (1 if literal > 0 else -1)

    found = [rng.sample([renamed(x) for x in c], len(c)) for c in clauses]
    found.append([3, -7, -3])  # a tautology
    repeated = found[rng.randrange(len(found) - 1)]
    repeated.append(repeated[0])
    return rng.sample(found, len(found))


def dimacs(name: str, clauses: list[Clause], variables: int, rng: random.Random) -> str:
    """Clauses end with 0, not with their line: some lines hold two, some clauses take two lines."""
    text = f"c {name}\nc clauses are numbered from 1\np cnf {variables} {len(clauses)}\n"
    for n, clause in enumerate(clauses):
        words = [*map(str, clause), "0"]
        chance = rng.random()
        if chance < 0.08:
            text += f"{words[0]}\n{' '.join(words[1:])}\n"
        elif chance < 0.16 and n + 1 < len(clauses):
            text += f"{' '.join(words)}   "
        else:
            text += f"{' '.join(words)}\n"
        if chance > 0.97:
            text += "c\n"
    return text


def files() -> dict[str, str]:
    rng = random.Random(SEED)
    formulas = {
        "amber": (without_model(13, rng), 13),
        "birch": (with_one_model(15, rng), 15),
        "cedar": (with_one_model(14, rng), 14),
        "delta": (pigeons(3, rng), 14),
    }
    return {
        f"{name}.cnf": dimacs(name, disguised(clauses, variables, rng), variables, rng)
        for name, (clauses, variables) in formulas.items()
    }


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
