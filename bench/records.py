"""A made-up store of many records, as years of use would leave it: for measuring alone."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from huggingface_hub import CommitOperationAdd, HfApi

from arena.records import (
    AnyRecord,
    DomainRow,
    PackageRow,
    ReleaseRecord,
    ReportRecord,
    ReviewRecord,
    RunEventRecord,
    RunRecord,
    StageRow,
    SubmissionRecord,
    TaskRow,
    ValidationRecord,
    dump_record,
)
from arena.storecard import dataset_card
from arena.storefiles import files_of
from tests.service.scripted import arms, report

STAGES = ("setup", "snapshot", "gate", "baseline", "sft", "grpo", "final", "report")
_PER_SUBMISSION = 14  # records: it, its validation, a run with its events, report, review, release
_TAIL = 150  # commits that are not compacted yet


def publish(api: HfApi, repo: str, count: int) -> int:
    """Makes a dataset of about `count` records; gives how many they are."""
    records = list(_numbered(count))
    files: dict[str, bytes] = {"README.md": dataset_card().encode()}
    old, tail = records[:-_TAIL], records[-_TAIL:]
    by_period: dict[str, list[str]] = defaultdict(list)
    for record in old:
        period = f"{record.at:%Y-%m}" if record.at.year == 2026 else f"{record.at:%Y}"
        by_period[f"data/{record.kind}/{period}.jsonl"].append(dump_record(record) + "\n")
    files |= {path: "".join(lines).encode() for path, lines in by_period.items()}
    for record in tail:
        files |= files_of([record])
    api.create_repo(repo, repo_type="dataset")
    operations = [CommitOperationAdd(path, content) for path, content in files.items()]
    api.create_commit(repo, operations, commit_message="Made up", repo_type="dataset")
    return len(records)


def _numbered(count: int) -> Iterator[AnyRecord]:
    seq = 0
    began = datetime(2025, 3, 1, tzinfo=UTC)
    step = timedelta(days=600) / count
    for number in range(count // _PER_SUBMISSION):
        for record in _of_one_submission(number):
            seq += 1
            yield record.model_copy(update={"seq": seq, "at": began + step * seq})


def _of_one_submission(number: int) -> Iterator[AnyRecord]:
    own, run, author = f"sub_{number:06d}", f"run_{number:06d}", f"author{number % 700}"
    line = f"hf:{author}/collection-{number // 4 % 3000}"
    digest = f"{number:064x}"
    packages = [PackageRow(name=f"task-{n}", domain="files", licence="MIT") for n in range(12)]
    yield SubmissionRecord(
        id=own,
        by=author,
        title=f"Collection {number}",
        owner=author,
        source=f"{line}@{number:040x}",
        requested_revision="main",
        commit=f"{number:040x}",
        line=line,
        authors=[],
    )
    yield ValidationRecord(
        id=f"val_{number:06d}",
        by="arena",
        submission=own,
        outcome="valid",
        code=None,
        reason=None,
        collection=digest,
        packages=packages,
        findings=[],
        stages=[StageRow(stage="fetching", seconds=1.5)],
        rules="1.0",
        near_copies="exact",
    )
    launched = RunRecord(
        id=run,
        by=author,
        submission=own,
        collection=digest,
        challenge="demo",
        challenge_digest="c" * 64,
        recipe_digest="r" * 64,
        base_model="arena/base@main",
        suite="arena/suite@main",
    )
    yield launched
    yield _event(number, 0, "leased")
    for place, stage in enumerate(STAGES[:6], start=1):
        yield _event(number, place, "stage", stage)
    change = number % 37 - 10.0
    yield ReportRecord(
        id=f"rep_{number:06d}",
        by="arena-worker",
        run=run,
        before=0.25,
        after=0.25 + change / 100,
        change_pp=change,
        stderr_pp=4.0,
        ci95_low_pp=change - 8,
        ci95_high_pp=change + 8,
        coverage=1.0,
        domains=[DomainRow(domain="files", tasks=20, before=0.25, after=0.3, change_pp=5.0)],
        tasks=[TaskRow(task=f"{n:032x}", domain="files", before=0.0, after=0.5) for n in range(20)],
        report=json.dumps(report(launched, *arms(0.25, 0.75, tasks=20, trials=4))),
    )
    yield ReviewRecord(
        id=f"rev_{number:06d}",
        by="editor",
        run=run,
        verdict="accepted",
        reason="Sound, and its evidence is in order.",
    )
    yield ReleaseRecord(
        id=f"rel_{number:06d}",
        by="arena",
        run=run,
        submission=own,
        collection=digest,
        repo="arena/commons",
        commit="d" * 40,
        folder=f"collections/{digest[:12]}",
        packages=packages,
    )


def _event(number: int, place: int, event: str, stage: str | None = None) -> RunEventRecord:
    return RunEventRecord.model_validate(
        {
            "id": f"evt_{number:06d}_{place}",
            "by": "arena-worker",
            "run": f"run_{number:06d}",
            "event": event,
            "lease": "l" * 32,
            "stage": stage,
            "seconds": 10.0 if stage else None,
        }
    )
