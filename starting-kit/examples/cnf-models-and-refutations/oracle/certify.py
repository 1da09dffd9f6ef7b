"""Writes a model, or a minimal core and its refutation: `python3 certify.py DATA_DIR OUT_DIR`.

A search that fails is a proof: where both values of a variable end in a false clause, the resolvent
of the two clauses is false as well.
"""

from __future__ import annotations

import sys
from pathlib import Path

Clause = frozenset[int]


def parse(path: Path) -> tuple[int, list[Clause]]:
    """The number of variables, and the clauses; clause n stands at index n - 1."""
    words: list[str] = []
    variables = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("p"):
            variables = int(line.split()[2])
        elif not line.startswith("c"):
            words += line.split()
    clauses, current = [], []
    for literal in map(int, words):
        if literal:
            current.append(literal)
        else:
            clauses.append(frozenset(current))
            current = []
    return variables, clauses


class Search:
    """Looks for a model of numbered clauses; derives the empty clause where there is none."""

    def __init__(self, clauses: dict[int, Clause], first_id: int) -> None:
        self.clauses = dict(clauses)
        self.given = clauses
        self.parents: dict[int, tuple[int, int]] = {}
        self.model: set[int] = set()
        self._ids = {clause: number for number, clause in clauses.items()}
        self._next = first_id

    def run(self) -> int | None:
        """The number of the empty clause; None where `model` satisfies all clauses."""
        return self._falsified(set())

    def _falsified(self, true: set[int]) -> int | None:
        """The number of a clause that is false under `true`, given or derived on the spot."""
        shortest: list[int] = []
        for number, clause in self.given.items():
            if clause & true:
                continue
            open_literals = [literal for literal in clause if -literal not in true]
            if not open_literals:
                return number
            if not shortest or len(open_literals) < len(shortest):
                shortest = open_literals
        if not shortest:
            self.model = true
            return None
        # the value that makes a unit clause false comes first: it fails at once
        literal = min(shortest)
        a = self._falsified(true | {-literal})
        if a is None or literal not in self.clauses[a]:
            return a
        b = self._falsified(true | {literal})
        if b is None or -literal not in self.clauses[b]:
            return b
        return self._resolve(a, b, literal)

    def _resolve(self, a: int, b: int, literal: int) -> int:
        clause = (self.clauses[a] - {literal}) | (self.clauses[b] - {-literal})
        if clause not in self._ids:
            self._ids[clause] = self._next
            self.clauses[self._next] = clause
            self.parents[self._next] = (a, b)
            self._next += 1
        return self._ids[clause]

    def proof(self, last: int) -> list[int]:
        """The numbers of the derived clauses that `last` rests on, ascending."""
        needed, waiting = set(), [last]
        while waiting:
            number = waiting.pop()
            if number in self.parents and number not in needed:
                needed.add(number)
                waiting += self.parents[number]
        return sorted(needed)


def minimal_core(clauses: dict[int, Clause], first_id: int) -> dict[int, Clause]:
    """An unsatisfiable part that loses that with any one clause."""
    core = dict(clauses)
    for number in clauses:
        if number not in core:
            continue
        search = Search({n: c for n, c in core.items() if n != number}, first_id)
        empty = search.run()
        if empty is not None:
            used = {n for step in search.proof(empty) for n in search.parents[step]}
            core = {n: c for n, c in search.given.items() if n in used}
    return core


def certify(path: Path, out: Path) -> None:
    variables, listed = parse(path)
    clauses = dict(enumerate(listed, 1))
    first_id = len(listed) + 1
    search = Search(clauses, first_id)
    if search.run() is None:
        values = [v if v in search.model else -v for v in range(1, variables + 1)]
        write(out / f"{path.stem}.model", [[*values, 0]])
        return
    core = minimal_core(clauses, first_id)
    search = Search(core, first_id)
    empty = search.run()
    if empty is None:
        raise AssertionError(f"{path.name}: the core has a model")
    lines = []
    for number in search.proof(empty):
        literals = sorted(search.clauses[number], key=abs)
        lines.append([number, *literals, 0, *search.parents[number], 0])
    write(out / f"{path.stem}.core", [sorted(core)])
    write(out / f"{path.stem}.proof", lines)


def write(path: Path, lines: list[list[int]]) -> None:
    path.write_text("".join(" ".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")


def main() -> None:
    for path in sorted(Path(sys.argv[1]).glob("*.cnf")):
        certify(path, Path(sys.argv[2]))


if __name__ == "__main__":
    main()
