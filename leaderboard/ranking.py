"""The leaderboard: of each line its newest valid collection, by mean change over accepted runs.

A withdrawn collection does not rank; its runs stay counted in its line's "k of n".
"""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from arena.listing import Listing
from arena.state import Run, State, Submission
from leaderboard.statistics import mean_over_runs


class Row(BaseModel):
    """One collection's place. Figures in pp; None: no accepted run, so unranked."""

    model_config = ConfigDict(frozen=True)

    rank: int | None
    collection: str
    submission: str
    title: str
    source: str
    author: str
    mean_change_pp: float | None
    stderr_pp: float | None
    ci95_pp: tuple[float, float] | None
    accepted: int
    scored: int
    tasks: int
    domains: dict[str, float]


class _Placed(NamedTuple):
    rank: int | None
    row: Row

    def ranked(self) -> Row:
        return self.row.model_copy(update={"rank": self.rank})


class _Kept(NamedTuple):
    newest: Submission
    runs: list[Run]
    row: Row

    def is_of(self, newest: Submission, runs: list[Run]) -> bool:
        """Whether it was made of these very values, which never change."""
        same = len(self.runs) == len(runs) and all(map(operator.is_, self.runs, runs))
        return same and self.newest is newest


Kept = dict[tuple[str, str], _Kept]
"""Rows by challenge and line, for the next call: only lines that changed are computed anew."""


def leaderboard(
    state: State, challenge: str, min_runs: int = 1, kept: Kept | None = None
) -> Listing[_Placed, Row]:
    """The rows of a challenge in order: ranked ones first, equal means sharing a rank."""
    kept = {} if kept is None else kept
    by_line: dict[str, list[Run]] = defaultdict(list)
    for run in state.runs.values():
        if run.record.challenge == challenge:
            by_line[state.submissions[run.record.submission].line].append(run)
    newest = state.newest_valid_by_line()
    rows = []
    for line, runs in by_line.items():
        if line not in newest:
            continue
        before = kept.get((challenge, line))
        if before is None or not before.is_of(newest[line], runs):
            before = _Kept(newest[line], runs, _row(newest[line], runs, min_runs))
            kept[challenge, line] = before
        rows.append(before.row)
    return Listing(_placed(rows), _Placed.ranked)


def _row(newest: Submission, line_runs: list[Run], min_runs: int) -> Row:
    assert newest.validation is not None
    accepted = [
        run
        for run in line_runs
        if run.state == "accepted" and run.record.collection == newest.collection
    ]
    counted = accepted if len(accepted) >= min_runs else []
    change = mean_over_runs([_differences(run) for run in counted])
    return Row(
        rank=None,
        collection=newest.validation.collection or "",
        submission=newest.record.id,
        title=newest.record.title,
        source=newest.record.source,
        author=newest.author,
        mean_change_pp=change.change * 100 if change else None,
        stderr_pp=change.stderr * 100 if change and change.stderr is not None else None,
        ci95_pp=(change.ci95[0] * 100, change.ci95[1] * 100) if change and change.ci95 else None,
        accepted=len([run for run in line_runs if run.state == "accepted"]),
        scored=len([run for run in line_runs if run.report is not None]),
        tasks=len(newest.validation.packages),
        domains=_domains(counted),
    )


def _differences(run: Run) -> dict[str, float]:
    assert run.report is not None
    return {
        row.task: row.after - row.before
        for row in run.report.tasks
        if row.before is not None and row.after is not None
    }


def _domains(runs: list[Run]) -> dict[str, float]:
    """The mean over runs of each domain's change, in pp."""
    changes: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for row in run.report.domains if run.report else ():
            changes[row.domain].append(row.change_pp)
    return {domain: sum(values) / len(values) for domain, values in sorted(changes.items())}


def _placed(rows: list[Row]) -> list[_Placed]:
    """Equal means share a rank, and the next rank is skipped; no result is last, without one."""
    means = [(row.mean_change_pp, row) for row in rows]
    scored = sorted(
        ((mean, row) for mean, row in means if mean is not None), key=lambda pair: -pair[0]
    )
    placed: list[_Placed] = []
    before = math.inf
    for place, (mean, row) in enumerate(scored, start=1):
        tie = math.isclose(before, mean, abs_tol=1e-9)
        placed.append(_Placed(placed[-1].rank if tie else place, row))
        before = mean
    return placed + [_Placed(None, row) for mean, row in means if mean is None]
