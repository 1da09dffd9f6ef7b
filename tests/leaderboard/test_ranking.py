"""Who ranks, where, and over what."""

from arena.records import (
    AnyRecord,
    DomainRow,
    PackageRow,
    ReportRecord,
    ReviewRecord,
    RunEventRecord,
    RunRecord,
    SubmissionRecord,
    TaskRow,
    ValidationRecord,
)
from arena.state import State
from leaderboard.ranking import leaderboard


class Story:
    """Records as they would have been made."""

    def __init__(self) -> None:
        self.records: list[AnyRecord] = []

    def add(self, record: AnyRecord) -> str:
        self.records.append(record.model_copy(update={"seq": len(self.records) + 1}))
        return record.id

    def submit(self, line: str, collection: str, outcome: str = "valid") -> str:
        number = len(self.records)
        sub = self.add(
            SubmissionRecord(
                id=f"sub{number}",
                by=line,
                title=f"{line} {collection}",
                owner=line,
                source=line,
                requested_revision="main",
                commit=collection,
                line=line,
                authors=[],
            )
        )
        self.add(
            ValidationRecord.model_validate(
                {
                    "id": f"val{number}",
                    "by": "arena",
                    "submission": sub,
                    "outcome": outcome,
                    "code": None,
                    "reason": None,
                    "collection": collection,
                    "findings": [],
                    "stages": [],
                    "rules": "1",
                    "near_copies": "",
                    "packages": [PackageRow(name="p", domain="d", licence="MIT")],
                }
            )
        )
        return sub

    def run(self, sub: str, collection: str, change: float, verdict: str | None) -> None:
        run = self.add(
            RunRecord(
                id=f"run{len(self.records)}",
                by="x",
                submission=sub,
                collection=collection,
                challenge="demo",
                challenge_digest="",
                recipe_digest="",
                base_model="",
                suite="",
            )
        )
        event = {"id": f"evt{run}", "by": "w", "run": run, "event": "leased", "lease": "l"}
        self.add(RunEventRecord.model_validate(event))
        tasks = [
            TaskRow(task="t1", domain="d", before=0.0, after=change),
            TaskRow(task="t2", domain="d", before=0.5, after=0.5 + change),
        ]
        domains = [DomainRow(domain="d", tasks=2, before=0, after=0, change_pp=change * 100)]
        self.add(
            ReportRecord(
                id=f"rep{run}",
                by="w",
                run=run,
                before=0.25,
                after=0.25 + change,
                change_pp=change * 100,
                stderr_pp=0,
                ci95_low_pp=None,
                ci95_high_pp=None,
                coverage=1,
                domains=domains,
                tasks=tasks,
                report="{}",
            )
        )
        if verdict:
            review = {"id": f"rev{run}", "by": "e", "run": run, "verdict": verdict, "reason": "r"}
            self.add(ReviewRecord.model_validate(review))

    @property
    def rows(self) -> list[tuple[int | None, str, float | None, int, int]]:
        rows = leaderboard(State().apply(self.records), "demo")
        return [
            (r.rank, r.title, r.mean_change_pp and round(r.mean_change_pp, 6), r.accepted, r.scored)
            for r in rows
        ]


def test_equal_means_share_a_rank_and_no_result_is_last() -> None:
    story = Story()
    for line, change, verdict in (
        ("unreviewed", 0.5, None),
        ("second", 0.1, "accepted"),
        ("negative", -0.1, "accepted"),
        ("first", 0.2, "accepted"),
        ("tied", 0.1, "accepted"),
        ("rejected", 0.4, "rejected"),
        ("zero", 0.0, "accepted"),
    ):
        story.run(story.submit(line, "c"), "c", change, verdict)
    assert story.rows == [
        (1, "first c", 20.0, 1, 1),
        (2, "second c", 10.0, 1, 1),
        (2, "tied c", 10.0, 1, 1),
        (4, "zero c", 0.0, 1, 1),
        (5, "negative c", -10.0, 1, 1),
        (None, "unreviewed c", None, 0, 1),
        (None, "rejected c", None, 0, 1),
    ]


def test_a_line_ranks_by_its_newest_valid_collection() -> None:
    story = Story()
    old = story.submit("line", "old")
    story.run(old, "old", 0.3, "accepted")
    new = story.submit("line", "new")
    story.submit("line", "broken", outcome="invalid")
    assert story.rows == [(None, "line new", None, 1, 1)], "k of n is over the whole line"
    story.run(new, "new", 0.1, "accepted")
    story.run(new, "new", 0.3, "accepted")
    story.run(new, "new", 0.9, "rejected")
    assert story.rows == [(1, "line new", 20.0, 3, 4)]
