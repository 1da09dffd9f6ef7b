"""Checks the certificates against the formulas that stand beside this file, step by step.

The agent may have changed its own copies of the formulas, so they are not read. Whether clauses are
satisfiable is computed with whole truth tables, as numbers of 2**variables bits.
"""

import unittest
from pathlib import Path
from typing import NamedTuple

CERTIFICATES = Path("/root/certificates")
HERE = Path(__file__).parent
MAX_BYTES = 4_000_000
MAX_STEPS = 20_000

Clause = frozenset[int]


class Formula(NamedTuple):
    variables: int
    clauses: dict[int, Clause]


class Step(NamedTuple):
    number: int
    clause: Clause
    parents: tuple[int, int]


def parse(path: Path) -> Formula:
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("c")]
    variables = int(kept[0].split()[2])
    clauses: dict[int, Clause] = {}
    literals: list[int] = []
    for word in " ".join(kept[1:]).split():
        if word == "0":
            clauses[len(clauses) + 1] = frozenset(literals)
            literals = []
        else:
            literals.append(int(word))
    return Formula(variables, clauses)


class TruthTables:
    """Sets of assignments: bit i of a number stands for the i-th of all assignments."""

    def __init__(self, formula: Formula) -> None:
        count = 1 << formula.variables
        self.every = (1 << count) - 1
        tables = {}
        for v in range(formula.variables):
            # 0s and 1s in blocks of 2**v, from the lowest bit on
            tables[v + 1] = self.every // ((1 << (1 << v)) + 1) << (1 << v) & self.every
        self._clauses = {}
        for number, clause in formula.clauses.items():
            satisfied = 0
            for literal in clause:
                satisfied |= tables[literal] if literal > 0 else self.every ^ tables[-literal]
            self._clauses[number] = satisfied

    def satisfiable(self, numbers: set[int]) -> bool:
        left = self.every
        for number in numbers:
            left &= self._clauses[number]
        return left != 0


def read(name: str) -> list[list[int]]:
    """The numbers of each line. Raises AssertionError where the agent wrote nothing readable."""
    path = CERTIFICATES / name
    if not path.is_file():
        raise AssertionError(f"{path} was not written")
    with path.open("rb") as file:
        text = file.read(MAX_BYTES).decode("utf-8")
    try:
        return [[int(word) for word in line.split()] for line in text.splitlines()]
    except ValueError as error:
        raise AssertionError(f"{path} holds something that is no number: {error}") from error


def steps(name: str) -> list[Step]:
    found = []
    for n, line in enumerate(read(f"{name}.proof"), 1):
        if len(line) < 5 or line[-1] != 0 or line[-4] != 0 or line.count(0) != 2:
            raise AssertionError(f"{name}.proof, line {n} is not ID LITERAL ... 0 PARENT PARENT 0")
        literals = line[1:-4]
        if len(set(literals)) < len(literals):
            raise AssertionError(f"{name}.proof, line {n} repeats a literal")
        found.append(Step(line[0], frozenset(literals), (line[-3], line[-2])))
    if not 0 < len(found) <= MAX_STEPS:
        raise AssertionError(f"{name}.proof has {len(found)} lines; 1 to {MAX_STEPS} are due")
    return found


def core(name: str) -> list[int]:
    lines = read(f"{name}.core")
    if len(lines) != 1:
        raise AssertionError(f"{name}.core has {len(lines)} lines; one is due")
    return lines[0]


class Certificates(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.formulas = {path.stem: parse(path) for path in sorted(HERE.glob("*.cnf"))}
        cls.tables = {name: TruthTables(formula) for name, formula in cls.formulas.items()}
        cls.satisfiable = {
            name for name, f in cls.formulas.items() if cls.tables[name].satisfiable(set(f.clauses))
        }
        cls.refutable = [name for name in cls.formulas if name not in cls.satisfiable]

    def test_verdicts(self) -> None:
        wanted = [f"{name}.model" for name in self.satisfiable]
        wanted += [f"{name}.{part}" for name in self.refutable for part in ("core", "proof")]
        self.assertTrue(CERTIFICATES.is_dir(), f"{CERTIFICATES} was not made")
        found = sorted(path.name for path in CERTIFICATES.iterdir())
        self.assertEqual(found, sorted(wanted), "the files say which formulas are satisfiable")

    def test_models(self) -> None:
        for name in sorted(self.satisfiable):
            with self.subTest(formula=name):
                lines, formula = read(f"{name}.model"), self.formulas[name]
                self.assertEqual(len(lines), 1, f"{name}.model: one line")
                variables = [abs(literal) for literal in lines[0]]
                self.assertEqual(variables, [*range(1, formula.variables + 1), 0])
                true = set(lines[0])
                failed = [n for n, clause in formula.clauses.items() if not clause & true]
                self.assertEqual(failed, [], f"{name}.model leaves these clauses false")

    def test_every_step_resolves(self) -> None:
        for name in self.refutable:
            with self.subTest(formula=name):
                known = dict(self.formulas[name].clauses)
                last = max(known)
                for step in steps(name):
                    self.assertGreater(step.number, last, f"{name}.proof: IDs ascend")
                    for parent in step.parents:
                        self.assertIn(parent, known, f"{name}.proof, {step.number}: its parents")
                    a, b = (known[parent] for parent in step.parents)
                    clashing = [literal for literal in a if -literal in b]
                    self.assertEqual(len(clashing), 1, f"{name}.proof, {step.number}: clashes")
                    resolvent = (a - {clashing[0]}) | (b - {-clashing[0]})
                    self.assertEqual(step.clause, resolvent, f"{name}.proof, {step.number}")
                    known[step.number], last = step.clause, step.number

    def test_proofs_end_with_the_empty_clause(self) -> None:
        for name in self.refutable:
            with self.subTest(formula=name):
                proof = steps(name)
                self.assertEqual(proof[-1].clause, frozenset(), f"{name}.proof: the last clause")
                used = {parent for step in proof for parent in step.parents}
                idle = [step.number for step in proof[:-1] if step.number not in used]
                self.assertEqual(idle, [], f"{name}.proof: clauses that nothing uses")

    def test_proofs_start_from_the_core(self) -> None:
        for name in self.refutable:
            with self.subTest(formula=name):
                derived = {step.number for step in steps(name)}
                used = {parent for step in steps(name) for parent in step.parents}
                outside = sorted(used - derived - set(core(name)))
                self.assertEqual(outside, [], f"{name}.proof uses clauses beside the core")

    def test_cores_are_minimal(self) -> None:
        for name in self.refutable:
            with self.subTest(formula=name):
                numbers, tables = core(name), self.tables[name]
                self.assertEqual(numbers, sorted(set(numbers)), f"{name}.core: ascending")
                self.assertLessEqual(set(numbers), set(self.formulas[name].clauses))
                self.assertFalse(tables.satisfiable(set(numbers)), f"{name}.core is satisfiable")
                spare = [n for n in numbers if not tables.satisfiable(set(numbers) - {n})]
                self.assertEqual(spare, [], f"{name}.core: clauses that it does not need")


if __name__ == "__main__":
    unittest.main()
